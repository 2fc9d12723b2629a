// A mail server on 127.0.0.1 for tests, that wants a password where it is told one.

import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** Who gets it, whatever its headers say. */
  to: string[]
  /** As it came. */
  raw: string
  parsed: Email
}

export async function startMailServer({ port = 0, password = '' } = {}) {
  const mails: ReceivedMail[] = []
  const accepted = { password }
  const refusing = { all: false }
  const server = new SMTPServer({
    authOptional: password === '',
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth(said, _, done) {
      if (said.password === accepted.password) return done(null, { user: said.username })
      done(Object.assign(new Error('5.7.8 Authentication failed'), { responseCode: 535 }))
    },
    onMailFrom: (_, __, done) => done(refusing.all ? new Error('not today') : null),
    onRcptTo({ address }, _, done) {
      if (!address.startsWith('gone@')) return done()
      done(Object.assign(new Error('5.1.1 User unknown'), { responseCode: 550 }))
    },
    onData(stream, { envelope }, done) {
      const chunks: Uint8Array[] = []
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      stream.on('end', async () => {
        const bytes = Buffer.concat(chunks)
        const parsed = await new PostalMime().parse(bytes)
        mails.push({
          to: envelope.rcptTo.map(({ address }) => address),
          raw: bytes.toString('latin1'),
          parsed,
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: at } = server.server.address() as { port: number }
  return {
    mails,
    accepted,
    refusing,
    url: (user = '') => `smtp://${user}127.0.0.1:${at}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
