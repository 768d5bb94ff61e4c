import { statSync } from 'node:fs';

const OTHERS_WRITE = 0o022;

/**
 * Whether others may write to a folder of this user: take its files away and put their own there, whatever the mode of
 * the files. A folder of somebody else is theirs to open, as a volume that Kubernetes gives to a group.
 */
export function othersMayWrite(folder: string): boolean {
  // None for a store in memory.
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.uid === process.geteuid?.() && (stat.mode & OTHERS_WRITE) !== 0;
}
