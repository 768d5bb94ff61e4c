import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a file in PEM: `own-key`, `own-cert`, `other-cert`; all self-signed for 127.0.0.1, valid for 100 years. */
export function pemPath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}.pem`, import.meta.url));
}

/** What an upstream with a self-signed certificate listens with. */
export const OWN_CERTIFICATE = {
  key: readFileSync(pemPath('own-key'), 'utf8'),
  cert: readFileSync(pemPath('own-cert'), 'utf8'),
};
