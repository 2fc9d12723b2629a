// Double opt-in: a submission counts only once its sender has pressed the button behind the link in the mail.

import { expect, test } from 'bun:test'
import { type ReplyForm, type ReplyHouse, withReplies } from '../../../../tests/support/reply-forms.ts'
import { until } from '../../../../tests/support/until.ts'
import { BROWSER_USER_AGENT } from '../../../../tests/support/world.ts'
import { createSubmissionPruner } from '../erasure/prune-submissions.ts'

const DAY = 24 * 60 * 60_000
const CONFIRM = { subject: 'Please confirm', text: 'Hello {{name}}, press here:\n{{confirm}}', confirm: true }
/** The mail budget of the server in `withReplies`. */
const MAILS_PER_DAY = 1_000_000
const POST = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: '' }

async function readLink({ settle, server, mail }: ReplyHouse): Promise<string> {
  await settle()
  const text = mail.mails.at(-1)?.parsed.text ?? ''
  const [url = ''] = /http\S+/.exec(text) ?? []
  expect(url).toStartWith(`${server.origin}/f/confirm/`)
  return url.slice(server.origin.length)
}

const listStatuses = async (form: ReplyForm) => (await form.list()).map(({ status }) => status)

withReplies('double opt-in', (house) => {
  test('holds the submission back until the button is pressed, and then announces it once', async () => {
    const { createForm, server, settle } = house()
    const form = await createForm({
      reply: CONFIRM,
      successMessage: 'You are on the list.',
      pageUrl: 'https://shop.example/contact',
    })
    const { api } = form.workspace
    const [to] = ['owner@example.com']
    const made = await api('/channels', { method: 'POST', body: { type: 'email', name: 'Us', to: [to] } })
    await server.app.db.write((connection) =>
      connection
        .insertInto('mail_recipients')
        .values({ workspace_id: form.workspace.id, email: to as string, confirmed_at: 1, created_at: 1 })
        .onConflict((conflict) =>
          conflict.columns(['workspace_id', 'email']).doUpdateSet({ confirmed_at: 1 }),
        )
        .execute(),
    )
    await form.patch({ channelIds: [made.json.data.id] })
    const countNotices = () => house().mail.mails.filter(({ to: [first] }) => first === to).length
    await form.submit({ name: 'Ada', email: 'ada@example.com' })
    const path = await readLink(house())
    const before = countNotices()
    expect(await form.list()).toMatchObject([{ status: 'unconfirmed', announced: 0 }])
    const page = await server.call(path, { headers: { Accept: 'text/html' } })
    await server.call(path, { method: 'HEAD' })
    expect(page.status).toBe(200)
    expect(page.text).toContain('<form method="post"><button type="submit">Confirm</button></form>')
    expect(page.headers.get('x-robots-tag')).toBe('noindex')
    expect(page.headers.get('cache-control')).toBe('private, no-store')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('set-cookie')).toBeNull()
    // Scanners of mails fetch the page.
    expect(await listStatuses(form)).toEqual(['unconfirmed'])
    expect(countNotices()).toBe(before)
    const unread = await api(`/forms/${form.key}/submissions?status=new`)
    expect(unread.json.total).toBe(0)
    for (const _ of [1, 2, 3]) {
      const done = await server.call(path, POST)
      expect([done.status, done.text.includes('You are on the list.')]).toEqual([200, true])
      expect(done.text).toContain('href="https://shop.example/contact"')
    }
    await Promise.all([1, 2, 3].map(() => server.call(path, POST)))
    expect((await server.call(path)).text).toContain('You are on the list.')
    await settle()
    expect(await form.list()).toMatchObject([{ status: 'new', announced: 1 }])
    expect(countNotices()).toBe(before + 1)
  })

  test('credits the link with the lead when the button is pressed, and not before', async () => {
    const { createForm, server } = house()
    const form = await createForm({ reply: CONFIRM })
    const link = await form.workspace.createLink()
    const headers = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': '203.0.113.77' }
    await server.click(link.slug, headers)
    await server.waitUntilShipped()
    const body = 'email=ada%40example.com'
    await server.call(`/f/${form.key}`, { ...POST, body, headers: { ...POST.headers, ...headers } })
    const path = await readLink(house())
    const readLeads = async () => {
      const { json } = await form.workspace.api(`/links/${link.id}`)
      return json.data.leads
    }
    const [stored] = await form.list()
    const submission = await until('the link that brought it', async () => {
      const { json } = await form.workspace.api(`/submissions/${stored?.id}`)
      return json.data.attribution !== 'pending' && json.data
    })
    expect(submission).toMatchObject({ status: 'unconfirmed', linkId: link.id })
    expect(await readLeads()).toBe(0)
    await server.call(path, POST)
    expect(await readLeads()).toBe(1)
    await server.call(path, POST)
    expect(await readLeads()).toBe(1)
  })

  test('confirms all that one mailbox has sent to the form, because only the first one got a mail', async () => {
    const { createForm, server, settle, mail } = house()
    const form = await createForm({ reply: CONFIRM })
    const other = await createForm({ reply: CONFIRM }, form.workspace)
    for (const [n, email] of [
      'ada@example.com',
      'Ada@Example.com',
      'ada+x@example.com',
      'adam@example.com',
      'ada@example.org',
      'ada+x@example.org',
    ].entries())
      await form.submit({ email, n: String(n) })
    await other.submit({ email: 'ada@example.com' })
    await settle()
    const first = mail.mails.find(({ to: [to] }) => to === 'ada@example.com')
    expect(mail.mails).toHaveLength(4)
    const path = (/http\S+/.exec(first?.parsed.text ?? '')?.[0] ?? '').slice(server.origin.length)
    expect((await server.call(path)).text).toContain('The form was sent 3 times with your address.')
    await server.call(path, POST)
    expect(await listStatuses(form)).toEqual([
      'new',
      'new',
      'new',
      'unconfirmed',
      'unconfirmed',
      'unconfirmed',
    ])
    expect(await listStatuses(other)).toEqual(['unconfirmed'])
  })

  test('confirms no more than fifty at once', async () => {
    const { createForm, server } = house()
    const form = await createForm({ reply: CONFIRM })
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => form.submit({ email: 'ada@example.com', n: String(n) })),
    )
    const path = await readLink(house())
    await server.call(path, POST)
    const statuses = await listStatuses(form)
    expect(statuses.filter((status) => status === 'new')).toHaveLength(50)
  })

  test('leaves alone what is spam or gone by then, and what a member has confirmed', async () => {
    const { createForm, server } = house()
    const [spam, gone, byHand] = [
      await createForm({ reply: CONFIRM }),
      await createForm({ reply: CONFIRM }),
      await createForm({ reply: CONFIRM }),
    ]
    const paths: string[] = []
    for (const form of [spam, gone, byHand]) {
      await form.submit({ email: 'ada@example.com' })
      paths.push(await readLink(house()))
    }
    const set = async (form: ReplyForm, status: string) => {
      const [row] = await form.list()
      await form.workspace.patch(`/submissions/${row?.id}`, { status })
    }
    await set(spam, 'spam')
    await set(byHand, 'archived')
    const [row] = await gone.list()
    await gone.workspace.delete(`/submissions/${row?.id}`)
    const statuses = []
    for (const path of paths) statuses.push((await server.call(path, POST)).status)
    expect(statuses).toEqual([200, 404, 200])
    expect([await listStatuses(spam), await listStatuses(byHand)]).toEqual([['spam'], ['archived']])
  })

  test('ends after seven days, and forged links show nothing', async () => {
    const { createForm, server, advance } = house()
    const form = await createForm({ reply: CONFIRM, name: 'Newsletter' })
    const pressed = await createForm({ reply: CONFIRM })
    await form.submit({ email: 'ada@example.com' })
    const path = await readLink(house())
    await pressed.submit({ email: 'ada@example.com' })
    const pressedPath = await readLink(house())
    await server.call(pressedPath, POST)
    const flipped = path.slice(0, -5) + (path.at(-5) === 'a' ? 'b' : 'a') + path.slice(-4)
    for (const forged of [flipped, `${path}AAAA`, '/f/confirm/1.AAAA', path.replace('confirm', 'stop')]) {
      for (const call of [{}, POST]) {
        const answer = await server.call(forged, call)
        expect([answer.status, answer.text.includes('Newsletter')]).toEqual([404, false])
      }
    }
    advance(7 * DAY - 60_000)
    expect((await server.call(path)).status).toBe(200)
    advance(2 * 60_000)
    for (const call of [{}, POST]) {
      const answer = await server.call(path, call)
      expect([answer.status, answer.text.includes('This link has expired')]).toEqual([410, true])
    }
    expect(await listStatuses(form)).toEqual(['unconfirmed'])
    // Who had confirmed sees the thanks for as long as the submission is there.
    expect((await server.call(pressedPath)).status).toBe(200)
    expect((await server.delete(path)).status).toBe(405)
  })

  test('counts the seven days from when the mail left, not from when the server held it back', async () => {
    const { createForm, server, now, advance, mail, settle } = house()
    const { db } = server.app
    const today = () => Math.floor(now() / DAY)
    /** Uses up the mails of a day, as other mails would. */
    const useUp = (day: number) =>
      db.write((connection) =>
        connection
          .insertInto('mail_counts')
          .values({ day, sent: MAILS_PER_DAY })
          .onConflict((conflict) => conflict.column('day').doUpdateSet({ sent: MAILS_PER_DAY }))
          .execute(),
      )
    const prune = () => createSubmissionPruner({ db, now }).run()
    const form = await createForm({ reply: CONFIRM })
    for (const day of [0, 8]) await useUp(today() + day)
    await form.submit({ email: 'ada@example.com' })
    await form.submit({ email: 'ada@example.com', n: 'the same mailbox has no mail of its own' })
    const isHeld = async () => {
      const [delivery] = await form.deliveries()
      return (
        delivery.status === 'waiting' &&
        delivery.lastError !== null &&
        Date.parse(delivery.nextAttemptAt) > now()
      )
    }
    await until('the mail to be held', isHeld)
    advance(8 * DAY)
    await until('the mail to be held again', isHeld)
    await prune()
    expect(await listStatuses(form)).toEqual(['unconfirmed', 'unconfirmed'])
    expect(mail.mails).toHaveLength(0)
    advance(DAY)
    const path = await readLink(house())
    advance(7 * DAY - 60_000)
    await prune()
    expect((await server.call(path, POST)).status).toBe(200)
    expect(await listStatuses(form)).toEqual(['new', 'new'])

    await form.submit({ email: 'grace@example.com' })
    await settle()
    advance(7 * DAY + 60_000)
    await prune()
    expect(await form.list()).toHaveLength(2)
  })

  test('does not hold back a submission without an address', async () => {
    const { createForm } = house()
    const form = await createForm({ reply: CONFIRM })
    await form.submit({ name: 'No address' })
    expect(await form.list()).toMatchObject([{ status: 'new', announced: 1 }])
  })

  test('lets nobody set a submission to unconfirmed', async () => {
    const { createForm } = house()
    const form = await createForm()
    await form.submit({ name: 'Ada' })
    const [row] = await form.list()
    const answer = await form.workspace.patch(`/submissions/${row?.id}`, { status: 'unconfirmed' })
    expect(answer.status).toBe(422)
  })
})
