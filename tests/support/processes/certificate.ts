// Makes certificates that nobody has signed, for servers that speak TLS.

import { isIP } from 'node:net'
import { join } from 'node:path'

/**
 * Writes a key and its certificate for `host`, a name or an address, into `dir`, valid for two days.
 * @returns their paths
 */
export function createCertificate(dir: string, host: string, names = { cert: 'cert.pem', key: 'key.pem' }) {
  const [cert, key] = [join(dir, names.cert), join(dir, names.key)]
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const subject = [
    '-subj',
    `/CN=${host}`,
    '-addext',
    `subjectAltName=${isIP(host) ? 'IP' : 'DNS'}:${host}`,
    '-days',
    '2',
  ]
  const words = ['req', '-x509', ...algorithm, '-keyout', key, '-out', cert, ...subject]
  const made = Bun.spawnSync(['openssl', ...words])
  if (!made.success) throw new Error(`openssl made no certificate: ${made.stderr}`)
  return { cert, key }
}
