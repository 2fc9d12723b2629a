// An SMTP server on 127.0.0.1 that keeps the mails and the passwords it receives. It asks for a password when it is given
// one.

import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** The recipients of the SMTP envelope, which may differ from the headers. */
  to: string[]
  /** The received bytes as latin1 text. */
  raw: string
  parsed: Email
  /** It came over TLS. */
  encrypted: boolean
}

/** @param options.starttls it offers STARTTLS, with a certificate that nobody has signed */
export async function startMailServer({ port = 0, password = '', starttls = false } = {}) {
  const mails: ReceivedMail[] = []
  const passwords: { password: string; encrypted: boolean }[] = []
  const accepted = { password }
  const refusing = { all: false }
  const server = new SMTPServer({
    authOptional: password === '',
    allowInsecureAuth: true,
    disabledCommands: starttls ? [] : ['STARTTLS'],
    onAuth({ username, password }, { secure }, done) {
      passwords.push({ password: password ?? '', encrypted: secure })
      if (password === accepted.password) return done(null, { user: username })
      done(Object.assign(new Error('5.7.8 Authentication failed'), { responseCode: 535 }))
    },
    onMailFrom: (_, __, done) => done(refusing.all ? new Error('not today') : null),
    onRcptTo({ address }, _, done) {
      if (address.startsWith('gone@'))
        return done(Object.assign(new Error('5.1.1 User unknown'), { responseCode: 550 }))
      if (address.startsWith('full@'))
        return done(Object.assign(new Error('4.2.2 Mailbox full'), { responseCode: 452 }))
      done()
    },
    onData(stream, { envelope, secure: encrypted }, done) {
      const chunks: Uint8Array[] = []
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      stream.on('end', async () => {
        const bytes = Buffer.concat(chunks)
        const parsed = await new PostalMime().parse(bytes)
        mails.push({
          to: envelope.rcptTo.map(({ address }) => address),
          raw: bytes.toString('latin1'),
          parsed,
          encrypted,
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: listeningPort } = server.server.address() as { port: number }
  return {
    mails,
    passwords,
    accepted,
    refusing,
    url: (user = '') => `smtp://${user}127.0.0.1:${listeningPort}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
