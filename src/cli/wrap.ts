const WIDTH = 80;

/** `text` in lines of at most 80 columns, each after `indent` spaces. A longer word gets a line of its own. */
export function wrap(text: string, indent: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => ' '.repeat(indent) + each).join('\n');
}
