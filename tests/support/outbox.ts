// Forms, channels and deliveries over a store of their own, with a deliverer whose clock and senders a test chooses, and
// real receivers for what it sends.

import { afterAll, beforeAll, describe } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../server/features/accounts/keys.ts'
import { ownerEmails } from '../../server/features/accounts/members.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces.ts'
import { formsApi } from '../../server/features/forms/api.ts'
import { storeSubmissions } from '../../server/features/forms/submission.fixture.ts'
import { tellSubmissions } from '../../server/features/forms/told-submission.ts'
import { notifyApi } from '../../server/features/notify/api.ts'
import { sendBy } from '../../server/features/notify/channels.ts'
import { type Deliverer, type DelivererNeeds, openDeliverer } from '../../server/features/notify/deliver.ts'
import { enqueueDeliveries } from '../../server/features/notify/enqueue.ts'
import { sealing } from '../../server/features/notify/secrets.ts'
import { type Network, parseNetwork } from '../../server/lib/cidr.ts'
import { restApi } from '../../server/rest.ts'
import { type Engine, openRows, type RowStore } from '../../server/storage/rows/open.ts'
import { freshDatabase } from './postgres.ts'
import { type Answer, type Call, ENGINES } from './server.ts'

const ORIGIN = 'https://go.example'
export const SECRET = 'a secret that is long enough for a test'

export interface Outbox {
  rows: RowStore
  dataDir: string
  databaseUrl: string | undefined
  /** Milliseconds that the clock is ahead. */
  shift: number
  now(): number
  /** What the deliverers here are made of. */
  needs: DelivererNeeds
  /** The one at work, if there is one. */
  deliverer: Deliverer | undefined
  /** Starts one in place of the one before. */
  deliver(over?: Partial<DelivererNeeds>): Promise<Deliverer>
  /** Lets time pass, all at once. */
  pass(ms: number): void
  workspace(): Promise<OutboxWorkspace>
  /** How many attempts of a workspace are over and written down. */
  attemptsMade(workspaceId: number): Promise<number>
  close(): Promise<void>
}

export interface OutboxWorkspace {
  id: number
  api(path: string, call?: Call): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  /** Makes a webhook channel. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  webhook(url: string, fields?: Record<string, unknown>): Promise<any>
  form(channelIds: number[]): Promise<{ id: number; formKey: string; channelIds: number[] }>
  /** Stores submissions as the endpoint does: each with its deliveries in one transaction. @returns their ids */
  submit(form: { id: number; channelIds: number[] }, count?: number): Promise<number[]>
  /** All deliveries, the oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  deliveries(query?: string): Promise<any[]>
}

export async function openOutbox(engine: Engine): Promise<Outbox> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-outbox-'))
  const database = engine === 'postgres' ? await freshDatabase() : undefined
  const rows = await openRows({ dataDir, databaseUrl: database?.url })
  const settleAttribution = async () => {}
  const send = { allow: [parseNetwork('127.0.0.1') as Network], origin: ORIGIN, timeoutMs: 5_000 }
  const readSubmission = tellSubmissions({ rows, origin: ORIGIN, settleAttribution })
  const now = () => Date.now() + outbox.shift
  const needs = {
    rows,
    now,
    sealing: sealing(SECRET),
    sendBy,
    send,
    readSubmission,
    ownerEmails: (workspaceId: number) => ownerEmails({ rows }, workspaceId),
    pollMs: 100,
  }
  const wake = (mended?: number) => outbox.deliverer?.wake(mended)
  const features = [notifyApi({ ...needs, wake }), formsApi({ origin: ORIGIN, now, settleAttribution })]
  // Tests look again and again.
  const limiter = {
    take: () => ({ allowed: true, remaining: 1, waitMs: 0, resetMs: 0 }),
    used: () => 0,
    giveBack() {},
  }
  const rest = restApi({ rows, limiter, now, origin: ORIGIN, version: '0', features })
  const outbox: Outbox = {
    rows,
    dataDir,
    databaseUrl: database?.url,
    shift: 0,
    now,
    needs,
    deliverer: undefined,
    async deliver(over = {}) {
      await outbox.deliverer?.close()
      outbox.deliverer = await openDeliverer({ ...needs, ...over })
      return outbox.deliverer
    },
    pass(ms) {
      outbox.shift += ms
      wake()
    },
    workspace: () => makeWorkspace(outbox, rest, wake),
    async attemptsMade(workspaceId) {
      const { made } = await rows.read
        .selectFrom('delivery_attempts')
        .select((e) => e.fn.countAll<number>().as('made'))
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      return made
    },
    async close() {
      await outbox.deliverer?.close()
      await rows.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return outbox
}

async function makeWorkspace(
  { rows, now }: Outbox,
  rest: ReturnType<typeof restApi>,
  wake: () => void,
): Promise<OutboxWorkspace> {
  const { id } = await createWorkspace({ rows, now }, { name: 'Test', plan: 'enterprise' })
  const { key } = await createKey({ rows, now }, id, 'test')

  async function api(path: string, { method = 'GET', body, headers = {} }: Call = {}): Promise<Answer> {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const request = new Request(`${ORIGIN}/v1${path}`, {
      method,
      body: text,
      headers: { Authorization: `Bearer ${key}`, ...type, ...headers },
    })
    const answer = await rest.fetch(request)
    const said = await answer.text()
    return { status: answer.status, headers: answer.headers, text: said, json: JSON.parse(said) }
  }
  const post = (path: string, body?: unknown) => api(path, { method: 'POST', body })
  const made = async (path: string, body: unknown) => {
    const { status, text, json } = await post(path, body)
    if (status !== 201) throw new Error(`${path} made nothing: ${status} ${text}`)
    return json.data
  }
  return {
    id,
    api,
    post,
    webhook: (url, fields = {}) => made('/channels', { type: 'webhook', name: 'Hook', url, ...fields }),
    async form(channelIds) {
      const { formKey } = await made('/forms', { name: 'Contact', channelIds })
      const row = await rows.read
        .selectFrom('forms')
        .select('id')
        .where('form_key', '=', formKey)
        .executeTakeFirstOrThrow()
      return { id: row.id, formKey, channelIds }
    },
    submit: (form, count = 1) =>
      rows.write(async (db, onCommit) => {
        const at = now()
        const of = { workspaceId: id, formId: form.id }
        const sent = Array.from({ length: count }, (_, i) => ({
          fields: [['message', `Hello ${i}`]] as [string, string][],
          created_at: at,
        }))
        const ids = await storeSubmissions(db, of, sent)
        const { channelIds } = form
        for (const submissionId of ids)
          await enqueueDeliveries(db, rows.engine, { workspaceId: id, submissionId, channelIds, at })
        onCommit(wake)
        return ids
      }),
    async deliveries(query = '') {
      const all = []
      for (let cursor = ''; ; ) {
        const { json, text } = await api(`/deliveries?limit=100${cursor}${query}`)
        if (!json.data) throw new Error(text)
        all.push(...json.data)
        if (json.nextCursor === null) return all.reverse()
        cursor = `&cursor=${json.nextCursor}`
      }
    },
  }
}

/** The same tests over both engines. */
export function outboxOnBothEngines(name: string, tests: (outbox: () => Outbox) => void) {
  describe.each(ENGINES)(`${name} (%s)`, (engine) => {
    let outbox: Outbox
    beforeAll(async () => {
      outbox = await openOutbox(engine)
    }, 60_000)
    afterAll(() => outbox?.close())
    tests(() => outbox)
  })
}

export interface Received {
  id: string
  path: string
  headers: Record<string, string>
  body: string
  at: number
}

export interface Receiver {
  url: string
  got: Received[]
  /** How often each webhook-id came. */
  counts(): Map<string, number>
  /** The most requests that were open at the same time. */
  peak(): number
  /** What it does from now on; takes everything unless said otherwise. */
  behave(how: (received: Received) => Response | Promise<Response>): void
  stop(): Promise<void>
}

/** Takes webhooks on 127.0.0.1. */
export function startReceiver(port = 0): Receiver {
  const got: Received[] = []
  const takes = () => new Response('ok')
  let how: Parameters<Receiver['behave']>[0] = takes
  let [open, peak] = [0, 0]
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      peak = Math.max(peak, ++open)
      try {
        const headers = Object.fromEntries(request.headers)
        const path = new URL(request.url).pathname
        const received = {
          path,
          id: headers['webhook-id'] ?? '',
          headers,
          body: await request.text(),
          at: Date.now(),
        }
        got.push(received)
        return await how(received)
      } finally {
        open--
      }
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    got,
    counts() {
      const counts = new Map<string, number>()
      for (const { id } of got) counts.set(id, (counts.get(id) ?? 0) + 1)
      return counts
    },
    peak: () => peak,
    behave(next) {
      how = next
    },
    stop: () => server.stop(true),
  }
}
