/** Text for one line of a terminal: what a server names must not move the cursor, colour it, or begin a line. */
export function printable(text: string): string {
  return text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
