// A pool of connections to the operator's mail server, shared by everything that sends mail.

import type { createTransport } from 'nodemailer'
import { percentDecode } from '../../lib/text.ts'
import { parseUrl } from '../../lib/web-url.ts'

const createPool = (create: typeof createTransport, url: string) =>
  create({
    url,
    pool: true,
    maxConnections: 4,
    // One retry, for a pooled connection that the server has closed. Deliveries have a retry schedule of their own.
    maxRequeues: 1,
    connectionTimeout: 10_000,
    greetingTimeout: 15_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })

export type Mailer = ReturnType<typeof createPool>

const mailers = new Map<string, Mailer>()

/** The library is loaded with the first mail: most servers start without one to send. */
export async function openMailer(url: string): Promise<Mailer> {
  const library = await import('nodemailer')
  const mailer = mailers.get(url) ?? createPool(library.createTransport, url)
  mailers.set(url, mailer)
  return mailer
}

/** Closes all connections after the mails that are being sent. */
export function closeMailers(): void {
  for (const mailer of mailers.values()) mailer.close()
  mailers.clear()
}

/** Lists user name and password, plain and in the encodings of SMTP (RFC 4954, PLAIN and LOGIN). */
export function listSmtpSecrets(smtpUrl: string): string[] {
  const url = parseUrl(smtpUrl)
  if (!url) return [smtpUrl]
  const [user, password] = [url.username, url.password].map(percentDecode) as [string, string]
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  // A short name can be an ordinary word: masking it would spoil the answer and hide nothing.
  const names = user.length < 4 ? [] : [user, base64(user), url.username]
  const texts = [password, base64(password), url.password, ...names]
  return [smtpUrl, ...texts.filter(Boolean), base64(`\0${user}\0${password}`)]
}
