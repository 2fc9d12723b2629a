// Replies to senders are no open relay: whatever hostile senders post, each mail goes to the one address of its submission,
// and says what the template says, with pieces of the sender's text that are short and harmless.

import { expect } from 'bun:test'
import fc from 'fast-check'
import { isEmail } from '../../server/lib/email.ts'
import type { ReceivedMail } from '../support/fake-servers/mail-server.ts'
import { findDangers, hostileText } from '../support/hostile-senders.ts'
import { SEED } from '../support/random.ts'
import { REPLY, type ReplyForm, withReplies } from '../support/reply-forms.ts'
import { atScale, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'

const TOTAL = atScale({ quick: 50, full: 100, soak: 100_000 })
const AT_ONCE = 50
/** Below the limit of a workspace, so that it hides nothing. */
const PER_FORM = 190

const TEMPLATE = {
  subject: 'Thanks {{name}}{{a}}',
  text: 'Hello {{name}},\n\nyou wrote: "{{message}}".\n{{a}}{{b}}\n\nYour team',
  confirm: false,
}
const BODY = /^Hello [^\n]*,\n\nyou wrote: "[^\n]*"\.\n[^\n]*\n\nYour team$/
const HEADERS = `auto-submitted content-transfer-encoding content-type date from list-unsubscribe
  list-unsubscribe-post message-id mime-version subject to x-auto-response-suppress x-entity-ref-id`.split(
  /\s+/,
)

/** Most are addresses, so that most get a mail. */
const address = (n: number) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(`p${n}@example.com`, `o'p${n}@example.com`, `{p${n}}/?x=1@example.com`),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        `p${n}@example.com, victim@example.org`,
        `p${n}@example.com\r\nBcc: victim@example.org`,
        `<p${n}@example.com>`,
        `"p${n} x"@example.com`,
        `victim%example.org@p${n}.example.com`,
        `@example.org:p${n}@example.com`,
        `p${n}@example.com?cc=victim@example.org`,
        `noreply@p${n}.example.com`,
        `p${n}@[127.0.0.1]`,
        `p${n}@example.com\0@example.org`,
      ),
    },
    { weight: 1, arbitrary: hostileText(4) },
  )

const sender = (n: number) =>
  fc.record({
    name: hostileText(),
    email: address(n),
    message: hostileText(),
    a: hostileText(4),
    b: hostileText(4),
    _replyto: hostileText(2),
    _cc: fc.constant('victim@example.org'),
    cc: fc.constant('victim@example.org'),
    subject: hostileText(2),
  })

/** All at once: single samples would begin with the same seed, and make the same choices. */
const sampleSenders = (from: number) =>
  fc.sample(fc.tuple(...Array.from({ length: AT_ONCE }, (_, i) => sender(from + i))), {
    numRuns: 1,
    seed: SEED + from,
  })[0] as Record<string, string>[]

function checkMail({ to, parsed, raw }: ReceivedMail, sentTo: ReadonlySet<string>) {
  expect(to).toHaveLength(1)
  if (!sentTo.has(to[0] as string)) throw new Error(`a mail to ${JSON.stringify(to)}, whom nobody named`)
  expect(parsed.to?.map(({ address }) => address)).toEqual(to)
  expect(parsed.headers.map(({ key }) => key).sort()).toEqual(HEADERS)
  expect(raw).not.toContain('victim@example.org')
  expect(parsed.subject).toStartWith('Thanks')
  expect(parsed.subject?.length).toBeLessThanOrEqual(500)
  const text = (parsed.text ?? '').trimEnd()
  expect(text).toMatch(BODY)
  expect([...findDangers(text), ...findDangers(parsed.subject ?? '')]).toEqual([])
}

withReplies('the reply to a hostile sender', (house) => {
  quick(
    `is harmless, ${TOTAL} times`,
    async () => {
      const { createForm, settle, mail } = house()
      let form: ReplyForm | undefined
      const sentTo = new Set<string>()
      let mails = 0
      for (let n = 0; n < TOTAL; n += AT_ONCE) {
        if (!form || n % (Math.floor(PER_FORM / AT_ONCE) * AT_ONCE) === 0)
          form = await createForm({ reply: TEMPLATE })
        const target = form
        const senders = sampleSenders(n)
        const answers = await Promise.all(senders.map((fields) => target.submit(fields)))
        expect(answers.filter(({ status }) => status >= 500)).toEqual([])
        for (const { email = '' } of senders) {
          // As it is stored: no engine stores NUL.
          const stored = email.replaceAll('\0', '').trim()
          if (isEmail(stored)) sentTo.add(stored)
        }
        for (const received of await settle()) checkMail(received, sentTo)
        mails += mail.mails.length
        mail.mails.length = 0
      }
      // Most senders got their mail: the test saw what it is about.
      expect(mails).toBeGreaterThan(TOTAL / 3)
    },
    7_200_000,
  )
})

withReplies(
  'the mails of a day',
  (house) => {
    quick(
      'are not spent by one sender: another workspace still asks for confirmations, and so does the same one',
      async () => {
        const { createForm, mail, server } = house()
        const confirming = { reply: { ...REPLY, confirm: true } }
        const flooded = await createForm()
        const own = await createForm(confirming, flooded.workspace)
        const other = await createForm(confirming)
        const newcomer = await createForm()
        for (let n = 0; n < 40; n++) await flooded.submit({ email: `flood${n}@example.com` })
        const countSent = async () =>
          (await server.app.db.read.selectFrom('mail_counts').select('sent').execute())[0]?.sent
        await until('the end of the replies that may leave', async () => {
          const isHeld = (await flooded.deliveries()).some(({ lastError }) =>
            lastError?.includes('MAIL_PER_DAY'),
          )
          return isHeld && (await countSent()) === mail.mails.length
        })
        const replies = mail.mails.length
        expect(replies).toBeGreaterThan(20)
        await other.submit({ email: 'newcomer@example.com' })
        await own.submit({ email: 'ada@example.com' })
        await newcomer.submit({ email: 'grace@example.com' })
        for (const address of ['newcomer', 'ada', 'grace'])
          await until(`the mail to ${address}`, () =>
            mail.mails.some(({ to }) => to[0] === `${address}@example.com`),
          )
        expect(await countSent()).toBe(replies + 3)
      },
      120_000,
    )
  },
  { MAIL_PER_DAY: '60' },
)
