// Tests the operator's mail server: the connection, its encryption, the password, and with a recipient a mail.

import { createTransport } from 'nodemailer'
import { listSmtpSecrets } from './smtp.ts'

export interface MailCheck {
  ok: boolean
  /** The failure, or the server's answer to the mail; without user and password. */
  text: string
}

const TIMEOUT_MS = 5_000

/** @param to without it, no mail is sent */
export async function checkMailServer(
  { smtpUrl, mailFrom }: { smtpUrl: string; mailFrom: string },
  to?: string,
): Promise<MailCheck> {
  const mailer = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await mailer.verify()
    if (to === undefined) return { ok: true, text: '' }
    const { response } = await mailer.sendMail({
      from: mailFrom,
      // Nodemailer does not parse an address in an object, so no text in it can add a recipient.
      to: { name: '', address: to },
      subject: 'Towpath can send email',
      text: 'This email was sent by "npx towpath doctor". There is nothing left to do.',
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    return { ok: true, text: mask(String(response), smtpUrl) }
  } catch (error) {
    return { ok: false, text: explain(error as MailError, smtpUrl) }
  } finally {
    mailer.close()
  }
}

interface MailError {
  code?: string
  message?: string
  response?: string
}

/** A server may answer with a page of text. */
const WORDS_MAX = 200

const SENTENCES: Record<string, string> = {
  EAUTH: 'it refuses the user or the password',
  ETLS: 'it does not offer STARTTLS, or its certificate is not trusted',
  EDNS: 'its name has no address',
  ECONNECTION: 'there was no connection',
  ETIMEDOUT: 'it did not answer in time',
}

function explain({ code = '', message = '', response }: MailError, smtpUrl: string): string {
  const sentence = SENTENCES[code] ?? 'there was no connection'
  // The server's own message is more precise.
  const words = mask(response ?? message, smtpUrl)
    .replaceAll(/\s+/g, ' ')
    .slice(0, WORDS_MAX)
  return `${sentence} (${words})`
}

const mask = (text: string, smtpUrl: string) =>
  listSmtpSecrets(smtpUrl).reduce((masked, secret) => masked.replaceAll(secret, '•••'), text)
