// Replies of the team to senders: through the API, the outbox and a real mail server (docs/contract.md §13).

import { expect, test } from 'bun:test'
import { type ReplyForm, withReplies } from '../../../../tests/support/reply-forms.ts'
import { addToWorkspace, createSignedInUser } from '../../../../tests/support/users/signed-in-user.ts'
import { sendTeamReply } from './send-team-reply.ts'

const REPLY = { subject: 'Re: your message', text: 'Hello {{name}},\n\nsee https://example.com/offer\n.\n' }

const send = (form: ReplyForm, id: number, body: unknown = REPLY, headers: Record<string, string> = {}) =>
  form.workspace.post(`/submissions/${id}/replies`, body, headers)
const list = async (form: ReplyForm, id: number) =>
  (await form.workspace.api(`/submissions/${id}/replies`)).json.data

withReplies.quick('a reply of the team', (house) => {
  /** A form without an automatic reply, with one submission. */
  async function createLead(fields: Record<string, string> = { name: 'Ada', email: 'ada@example.com' }) {
    const form = await house().createForm({ reply: null })
    await form.submit(fields)
    const [submission] = await form.list()
    return { form, id: submission?.id ?? 0 }
  }

  test.each([
    ['without an address', { name: 'Ada' }, undefined, 'has no email address'],
    ['to a program', { email: 'no-reply@example.com' }, undefined, 'are not read'],
    ['to a mailbox behind another', { email: 'a%b.example@example.com' }, undefined, 'are not read'],
    ['to spam', { email: 'ada@example.com' }, 'spam', 'is spam'],
  ] as const)('is none %s', async (_, fields, status, message) => {
    const { form, id } = await createLead({ ...fields })
    if (status) await form.workspace.patch(`/submissions/${id}`, { status })
    const answer = await send(form, id)
    expect([answer.status, answer.json.error]).toEqual([409, expect.stringContaining(message)])
    expect(await house().settle()).toEqual([])
  })

  test('goes to the sender alone, as it was written, from the brand, and stays with the submission', async () => {
    const { server, settle } = house()
    const { form, id } = await createLead()
    await form.patch({ brand: { senderName: 'Acme Team', footer: 'Acme Ltd' } })
    const owner = await createSignedInUser(server, 'Olga', server.now())
    await addToWorkspace(server, form.workspace.id, owner, 'owner')
    const path = `/submissions/${id}/replies`
    const ask = {
      method: 'POST',
      body: REPLY,
      headers: { 'Idempotency-Key': `once ${id}`.replace(' ', '-') },
    }
    const answers = [1, 2].map(() => owner.apiIn(form.workspace.id, path, ask))
    const [first] = await Promise.all(answers)
    expect([first?.status, first?.json.data]).toEqual([
      201,
      {
        id: expect.any(Number),
        submissionId: id,
        author: 'Olga',
        ...REPLY,
        status: 'waiting',
        error: null,
        createdAt: expect.any(String),
      },
    ])
    const [mail, ...others] = await settle()
    expect([mail?.to, others]).toEqual([['ada@example.com'], []])
    const { parsed } = mail as NonNullable<typeof mail>
    expect([parsed.from, parsed.to, parsed.cc, parsed.bcc, parsed.replyTo, parsed.subject]).toEqual([
      { name: 'Acme Team', address: 'go@towpath.example' },
      [{ name: '', address: 'ada@example.com' }],
      undefined,
      undefined,
      [{ name: '', address: owner.email }],
      REPLY.subject,
    ] as never)
    expect(parsed.text).toContain(REPLY.text.trim())
    expect(parsed.text).toContain('Acme Ltd')
    const headers = parsed.headers.map(({ key }) => key)
    expect(headers).not.toContain('auto-submitted')
    expect(headers).toContain('list-unsubscribe')
    expect(await list(form, id)).toMatchObject([{ status: 'delivered', author: 'Olga', text: REPLY.text }])
    expect(await form.deliveries()).toMatchObject([
      { event: 'team_reply', channelId: null, status: 'delivered' },
    ])
    const audit = await owner.apiIn(form.workspace.id, '/audit?action=submission.replied')
    expect(audit.json.data).toMatchObject([{ action: 'submission.replied', target: { id: String(id) } }])
  })

  test('has a subject of one line and no other recipient, and only from people who may write', async () => {
    const { server, createForm } = house()
    const { form, id } = await createLead()
    const other = await createForm({ reply: null })
    for (const [body, field] of [
      [{ ...REPLY, subject: 'Hi\r\nBcc: victim@example.org' }, 'subject'],
      [{ ...REPLY, subject: 'Hi\nX: y' }, 'subject'],
      [{ ...REPLY, subject: 'Hi\u2028there' }, 'subject'],
      [{ ...REPLY, subject: ' ' }, 'subject'],
      [{ ...REPLY, subject: 'x'.repeat(201) }, 'subject'],
      [{ ...REPLY, text: '\n' }, 'text'],
      [{ ...REPLY, text: 'x\0' }, 'text'],
      [{ subject: 'x' }, 'text'],
      [{ ...REPLY, to: 'victim@example.org' }, 'to'],
      [{ ...REPLY, replyTo: 'victim@example.org' }, 'replyTo'],
      [{ ...REPLY, headers: {} }, 'headers'],
    ] as const) {
      const { status, json } = await send(form, id, body)
      expect([status, Object.keys(json.errors)]).toEqual([422, [field]])
    }
    expect((await send(other, id)).status).toBe(404)
    expect((await other.workspace.api(`/submissions/${id}/replies`)).status).toBe(404)
    const owner = await createSignedInUser(server, 'Olga', server.now())
    await addToWorkspace(server, form.workspace.id, owner, 'owner')
    const viewer = await createSignedInUser(server, 'Vera', server.now())
    await addToWorkspace(server, form.workspace.id, viewer, 'viewer')
    const path = `/submissions/${id}/replies`
    const refused = await viewer.in(form.workspace.id).post(path, REPLY)
    expect(refused.status).toBe(403)
    expect(await list(form, id)).toEqual([])
  })

  test('is none to somebody who has stopped the mails, also while it waits', async () => {
    const { settle, server } = house()
    const { form, id } = await createLead()
    await send(form, id)
    const [mail] = await settle()
    const stop = mail?.parsed.headers.find(({ key }) => key === 'list-unsubscribe')?.value.slice(1, -1) ?? ''
    await server.post(new URL(stop).pathname)
    const { status, json } = await send(form, id)
    expect([status, json.error]).toEqual([409, 'This person has stopped the emails of your forms'])
  })

  test('is refused above the limit of an hour, and what is refused for another reason does not count', async () => {
    const { server } = house()
    const { form, id } = await createLead()
    const { id: workspaceId } = form.workspace
    const actor = { kind: 'key', keyId: null, workspaceId, plan: 'enterprise' } as const
    const refunds: string[] = []
    const reply = (allowed: boolean, submissionId: number) =>
      sendTeamReply(
        {
          db: server.app.db,
          now: server.now,
          hashAddress: () => '',
          canMail: true,
          wakeDeliverer() {},
          limiter: {
            take: () => ({ allowed, remaining: 0, waitMs: 90_000, resetMs: 90_000 }),
            refund: (key) => void refunds.push(key),
          },
        },
        actor,
        submissionId,
        REPLY,
      )
    const limited = reply(false, id)
    await expect(limited).rejects.toMatchObject({ code: 'too_many', detail: { retryAfter: 90 } })
    await expect(reply(true, 999_999_999)).rejects.toMatchObject({ code: 'not_found' })
    expect(refunds).toEqual([`team replies ${workspaceId}`])
    expect(await list(form, id)).toEqual([])
  })

  test('is gone with the person', async () => {
    const { settle, server } = house()
    const { form, id } = await createLead()
    await send(form, id, REPLY, { 'Idempotency-Key': 'kept' })
    await settle()
    await form.workspace.delete('/submissions?email=ada@example.com')
    const { db } = server.app
    const left = await server.rows('team_replies', { workspace_id: form.workspace.id })
    const answers = await db.read
      .selectFrom('idempotency_keys')
      .select('path')
      .where('workspace_id', '=', form.workspace.id)
      .where('path', 'like', '%/replies')
      .execute()
    expect([left, answers]).toEqual([[], []])
  })
})
