// Replies to senders: through the endpoint, the outbox and a real mail server (docs/contract.md §13).

import { expect, test } from 'bun:test'
import { createTestForm, sendTo, URLENCODED_TYPE } from '../../../../tests/support/form-requests.ts'
import { REPLY, type ReplyForm, withReplies } from '../../../../tests/support/reply-forms.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { startServer } from '../../../../tests/support/world.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

withReplies('a reply', (house) => {
  test('goes to the address of the sender, as plain text, with the headers of an automatic answer', async () => {
    const { createForm, settle, server } = house()
    const form = await createForm()
    const sent = { name: 'Ada', email: ' ada@example.com ', message: 'Hi http://evil.example' }
    expect((await form.submit(sent)).status).toBe(303)
    const [mail, ...others] = await settle()
    expect(others).toEqual([])
    expect(mail?.to).toEqual(['ada@example.com'])
    const { parsed } = mail as NonNullable<typeof mail>
    const header = (name: string) => parsed.headers.find(({ key }) => key === name)?.value
    expect([parsed.subject, parsed.text?.trim(), parsed.html]).toEqual([
      'Thanks, Ada',
      'Hello Ada,\nwe got: Hi',
      undefined,
    ])
    expect([parsed.from, parsed.to, parsed.cc, parsed.bcc, parsed.replyTo]).toEqual([
      { name: 'Test', address: 'go@towpath.example' },
      [{ name: '', address: 'ada@example.com' }],
      undefined,
      undefined,
      undefined,
    ] as never)
    expect(header('auto-submitted')).toBe('auto-replied')
    expect(header('x-auto-response-suppress')).toBe('All')
    expect(header('list-unsubscribe')).toMatch(new RegExp(`^<${server.origin}/f/stop/[\\w.-]+>$`))
    expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    expect(header('content-type')).toStartWith('text/plain')
    const [delivery] = await form.deliveries()
    expect(header('message-id')).toBe(`<${delivery.messageId}@127.0.0.1>`)
    expect(delivery).toMatchObject({
      channelId: null,
      event: 'reply',
      status: 'delivered',
      sender: 'ada@example.com',
      formKey: form.key,
    })
  })

  test('shows in the delivery what was sent, without the links that are the recipient’s', async () => {
    const { createForm, settle } = house()
    const form = await createForm({ reply: { ...REPLY, text: 'Hello {{unsubscribe}}', confirm: true } })
    await form.submit({ email: 'ada@example.com' })
    await settle()
    const [{ id }] = await form.deliveries()
    const { json } = await form.workspace.api(`/deliveries/${id}`)
    const { request } = json.data
    expect(request.headers.To).toBe('ada@example.com')
    expect(request.headers['List-Unsubscribe']).toBe('<(hidden)>')
    expect(request.body).toBe('Hello (hidden)\n\n(hidden)\n')
  })

  test('is none for spam, duplicates, robots, and where there is no valid address', async () => {
    const { createForm, settle } = house()
    const form = await createForm({ spam: { words: ['casino'] } })
    await form.submit({ name: 'No address' })
    await form.submit({ email: '', name: 'Blank address' })
    expect((await form.submit({ email: 'no address', name: 'x' })).status).not.toBe(500)
    await form.submit({ email: 'robot@example.com', _gotcha: 'x' })
    await form.submit({ email: 'spammer@example.com', message: 'The best casino' })
    expect(await settle()).toEqual([])
    expect(await form.deliveries()).toEqual([])
    expect((await form.list()).map(({ email, status }) => [email, status])).toEqual([
      [null, 'new'],
      [null, 'new'],
      ['spammer@example.com', 'spam'],
    ])
  })

  test('is none for a duplicate', async () => {
    const { createForm, settle, server } = house()
    const form = await createForm({ reply: { ...REPLY, confirm: false } })
    const headers = { 'X-Forwarded-For': '203.0.113.5' }
    const body = 'email=twin%40example.com'
    for (const _ of [1, 2]) await sendTo(server, form.key).post(URLENCODED_TYPE, body, headers)
    expect(await settle()).toHaveLength(1)
    expect(await form.deliveries()).toHaveLength(1)
    expect(await form.list()).toHaveLength(2)
  })

  test.each([
    'noreply@example.com',
    'No-Reply+x@example.com',
    'MAILER-DAEMON@example.com',
    'bounces+1=2@example.com',
    'GO+x@towpath.example',
    'victim%inner.example@example.com',
  ])('is none to %s, and the submission is stored', async (email) => {
    const { createForm, settle } = house()
    const form = await createForm()
    expect((await form.submit({ email })).status).toBe(303)
    expect(await settle()).toEqual([])
    expect(await form.list()).toMatchObject([{ email, status: 'new', announced: 1 }])
  })

  test('is not sent where the reason is gone when its turn comes', async () => {
    const { createForm, settle, advance, mail } = house()
    const forms: ReplyForm[] = []
    for (let n = 0; n < 5; n++) forms.push(await createForm())
    const [deleted, spam, off, suspended, kept] = forms as [
      ReplyForm,
      ReplyForm,
      ReplyForm,
      ReplyForm,
      ReplyForm,
    ]
    mail.refusing.all = true
    for (const form of forms) await form.submit({ email: 'ada@example.com', name: 'Ada' })
    const { server } = house()
    await until('a first try of each', async () => {
      const rows = await server.rows('deliveries', { status: 'waiting', leased_until: null })
      return rows.length === 5 && rows.every(({ attempts }) => attempts === 1)
    })
    const [first] = await deleted.list()
    await deleted.workspace.delete(`/submissions/${first?.id}`)
    const [second] = await spam.list()
    await spam.workspace.patch(`/submissions/${second?.id}`, { status: 'spam' })
    await off.patch({ reply: null })
    await server.update('workspaces', { id: suspended.workspace.id }, { suspended_at: 1 })
    mail.refusing.all = false
    advance(10 * 60_000)
    expect((await settle()).map(({ parsed }) => parsed.subject)).toEqual(['Thanks, Ada'])
    expect(await kept.deliveries()).toMatchObject([{ status: 'delivered' }])
    for (const form of [spam, off]) expect(await form.deliveries()).toEqual([])
  }, 60_000)

  test('that one address refuses stops no other reply, and tells no owner of a channel', async () => {
    const { createForm, server } = house()
    const form = await createForm()
    const { db } = server.app
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await form.submit({ email: `full@host${n}.example` })
      await form.submit({ email: `gone@host${n}.example` })
    }
    await until('the refusals', async () => {
      const deliveries = await form.deliveries()
      const isOver = deliveries.filter(({ status }) => status === 'failed').length === 6
      return isOver && deliveries.every(({ attemptCount }) => attemptCount > 0)
    })
    await form.submit({ email: 'ada@example.com' })
    await until('the reply', async () =>
      (await form.deliveries()).some(({ status }) => status === 'delivered'),
    )
    const deliveries = await form.deliveries()
    const count = (status: string) => deliveries.filter((each) => each.status === status).length
    expect([count('waiting'), count('failed'), count('delivered')]).toEqual([6, 6, 1])
    const channel = await db.read
      .selectFrom('channels')
      .selectAll()
      .where('workspace_id', '=', form.workspace.id)
      .executeTakeFirst()
    expect(channel).toMatchObject({
      type: 'reply',
      enabled: 1,
      failing_since: null,
      own_failures_since: null,
    })
    await db.write((connection) =>
      connection.deleteFrom('deliveries').where('workspace_id', '=', form.workspace.id).execute(),
    )
  }, 60_000)

  test('that was delivered is not sent again by hand, and one that failed is', async () => {
    const { createForm, settle } = house()
    const form = await createForm()
    const { api } = form.workspace
    await form.submit({ email: 'ada@example.com' })
    await form.submit({ email: 'gone@example.com' })
    await settle()
    const [delivered, failed] = await form.deliveries()
    const again = await api(`/deliveries/${delivered.id}/retry`, { method: 'POST' })
    expect([again.status, again.json.error]).toEqual([409, 'A reply that was delivered is not sent again'])
    expect((await api(`/deliveries/${failed.id}/retry`, { method: 'POST' })).status).toBe(200)
    await settle()
    expect((await form.deliveries()).map(({ status, attemptCount }) => [status, attemptCount])).toEqual([
      ['delivered', 1],
      ['failed', 2],
    ])
  })

  test('has a channel that nobody sees, names or changes', async () => {
    const { createForm, settle, server } = house()
    const form = await createForm()
    const { api } = form.workspace
    await form.submit({ email: 'ada@example.com' })
    await settle()
    const { id } = await server.row('channels', { workspace_id: form.workspace.id })
    expect((await api('/channels')).json).toMatchObject({ data: [], total: 0 })
    for (const [path, method] of [
      ['', 'GET'],
      ['', 'PATCH'],
      ['', 'DELETE'],
      ['/test', 'POST'],
      ['/rotate-secret', 'POST'],
    ]) {
      const body = method === 'PATCH' ? { name: 'Mine' } : undefined
      expect((await api(`/channels/${id}${path}`, { method, body })).status).toBe(404)
    }
    expect((await form.patch({ channelIds: [id] })).status).toBe(422)
    const made = await api('/channels', { method: 'POST', body: { type: 'reply', name: 'x' } })
    expect(made.status).toBe(422)
    const exported = await api('/export')
    expect(exported.status).toBe(200)
    expect(exported.text).not.toContain('Replies to senders')
  })

  test('is stopped by the person with one click, in the whole workspace and nowhere else', async () => {
    const { createForm, settle, server } = house()
    const form = await createForm()
    await form.submit({ email: 'ada@example.com' })
    const [mail] = await settle()
    const url = /List-Unsubscribe:\s+<([^>]+)>/.exec(mail?.raw ?? '')?.[1] ?? ''
    const path = url.slice(server.origin.length)
    const page = await server.call(path)
    expect([page.status, page.headers.get('x-robots-tag'), page.headers.get('cache-control')]).toEqual([
      200,
      'noindex',
      'private, no-store',
    ])
    expect(page.headers.get('set-cookie')).toBeNull()
    const other = await createForm({}, form.workspace)
    await other.submit({ email: 'ada@example.com' })
    // A GET stopped nothing.
    expect(await settle()).toHaveLength(2)
    const oneClick = {
      method: 'POST',
      body: 'List-Unsubscribe=One-Click',
      headers: { 'Content-Type': URLENCODED_TYPE },
    }
    for (const _ of [1, 2]) expect((await server.call(path, oneClick)).status).toBe(200)
    const third = await createForm({}, form.workspace)
    await third.submit({ email: 'Ada+x@example.com' })
    expect(await settle()).toHaveLength(2)
    await (await createForm()).submit({ email: 'ada@example.com' })
    expect(await settle()).toHaveLength(3)
    const [{ address = '' } = {}] = await server.rows('reply_stops', { workspace_id: form.workspace.id })
    expect(address).toMatch(/^[\w-]{32}$/)
    for (const forged of [`${path}x`, '/f/stop/1.abc', path.replace('stop', 'confirm')]) {
      expect((await server.call(forged)).status).toBe(404)
      expect((await server.call(forged, oneClick)).status).toBe(404)
    }
    expect((await server.put(path)).status).toBe(405)
  })
})

/** More than the database and the memory of the server know of when the limit comes. */
const STORED_BEFORE = atScale({ quick: 190, full: 0, soak: 0 })

// The limits are kept by SQL, and by a lock on PostgreSQL.
withReplies.quick('a reply, limited,', (house) => {
  test('comes once a day to a mailbox from a form, and from another form too', async () => {
    const { createForm, settle, advance } = house()
    const form = await createForm()
    const other = await createForm({}, form.workspace)
    for (const email of ['ada@example.com', 'Ada@Example.com', 'ada+tag@example.com', 'ada@example.com'])
      await form.submit({ email, n: email })
    await other.submit({ email: 'ada@example.com' })
    expect(await settle()).toHaveLength(2)
    expect(await form.list()).toHaveLength(4)
    advance(DAY - 60_000)
    await form.submit({ email: 'ada@example.com', n: 'too early' })
    expect(await settle()).toHaveLength(2)
    advance(2 * 60_000)
    await form.submit({ email: 'ada@example.com', n: 'next day' })
    expect(await settle()).toHaveLength(3)
  }, 60_000)

  test('comes at most 200 times an hour in a workspace, also when all submissions come at once', async () => {
    const { createForm, settle, advance, server, now } = house()
    const form = await createForm()
    const other = await createForm({}, form.workspace)
    if (STORED_BEFORE > 0)
      await server.insert(
        'replies',
        Array.from({ length: STORED_BEFORE }, (_, n) => ({
          workspace_id: form.workspace.id,
          form_id: form.id,
          address: `before ${n}`,
          queued_at: now(),
          confirms: 0,
        })),
      )
    const expectMails = async (count: number) => expect(await settle()).toHaveLength(count - STORED_BEFORE)
    // All at once wait for one lock. Where the machine is slow, some answers are 503, and those senders try again.
    const submitUntilStored = async (n: number) => {
      const body = { email: `person${n}@example.com`, name: `P${n}` }
      return until('a submission to be stored', async () => {
        const { status } = await (n % 2 ? other : form).submit(body)
        expect([303, 503]).toContain(status)
        return status === 303
      })
    }
    const submitMany = (from: number, count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => submitUntilStored(from + i)))
    const sent = 230 - STORED_BEFORE
    await submitMany(0, sent)
    await expectMails(200)
    expect((await form.list()).length + (await other.list()).length).toBe(sent)
    await submitMany(1_000, 3)
    // Another workspace has its own 200, and so have mails that ask for a confirmation.
    await (await createForm()).submit({ email: 'person0@example.com' })
    const confirming = await createForm({ reply: { ...REPLY, confirm: true } }, form.workspace)
    await confirming.submit({ email: 'person0@example.com' })
    await expectMails(202)
    advance(HOUR + 1)
    await submitMany(2_000, 2)
    await expectMails(204)
    const metrics = await server.call('/metrics')
    const limited = metrics.text.split('\n').find((line) => /^towpath_replies_total.*hourly/.test(line))
    expect(limited).toEndWith(' 33')
  }, 120_000)
})

withReplies(
  'replies and MAIL_PER_DAY',
  (house) => {
    test('leave half of the mails of the day to others, and wait for the next day', async () => {
      const { createForm, settle, advance, mail, server } = house()
      const form = await createForm()
      for (const n of [1, 2, 3, 4, 5, 6, 7]) await form.submit({ email: `person${n}@example.com` })
      await until('the replies', () => mail.mails.length === 5)
      // The first one that is refused pauses the others. One that is being tried meanwhile has a lease, and would wait
      // from the new time on.
      await until('the others to wait', async () => {
        const waiting = await server.rows('deliveries', {
          workspace_id: form.workspace.id,
          status: 'waiting',
        })
        return (
          waiting.length === 2 &&
          waiting.every(({ leased_until }) => leased_until === null) &&
          waiting.some(({ last_error }) => last_error?.includes('MAIL_PER_DAY'))
        )
      })
      expect(mail.mails).toHaveLength(5)
      expect(await server.row('mail_counts')).toMatchObject({ sent: 5 })
      advance(DAY)
      expect(await settle()).toHaveLength(7)
    }, 60_000)
  },
  { MAIL_PER_DAY: '10' },
)

test('a server without a mail server refuses replies by name, and holds no submission back', async () => {
  const server = await startServer('sqlite', { environment: { TRUST_PROXY: '127.0.0.1' } })
  const ws = await server.createWorkspace()
  const body = { name: 'Contact', reply: { subject: 's', text: 't' } }
  const refused = await ws.post('/forms', body)
  expect(refused.status).toBe(422)
  expect(refused.json.errors.reply).toContain('SMTP_URL')
  const made = await ws.post('/forms', { name: 'Contact', reply: null })
  expect(made.status).toBe(201)
  const changed = await ws.patch(`/forms/${made.json.data.formKey}`, { reply: body.reply })
  expect(changed.status).toBe(422)
  // A form of a time when there was one.
  const form = await createTestForm(server, { reply: { subject: 's', text: 't', confirm: true } })
  await form.post(URLENCODED_TYPE, 'email=ada%40example.com')
  expect(await form.submissions()).toMatchObject([{ status: 'new', announced: 1 }])
  await server.close()
}, 60_000)
