// Makes the command executable: tsc writes dist/cli.js without the mode bits that `npm exec` needs.
import { chmodSync } from 'node:fs';

chmodSync(new URL('../dist/cli.js', import.meta.url), 0o755);
