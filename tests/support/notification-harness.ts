// Forms, channels and deliveries over a store of their own, with a deliverer whose clock and senders a test chooses, and
// real receivers for what it sends.

import { afterAll, beforeAll, describe } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { restApi } from '../../server/app.ts'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces/create-workspace.ts'
import { listOwnerEmails } from '../../server/features/accounts/workspaces/members.ts'
import { createFormsApi } from '../../server/features/forms/api.ts'
import { createNotificationContentReader } from '../../server/features/forms/submissions/notification-content.ts'
import { insertSubmissions } from '../../server/features/forms/submissions/submission.fixture.ts'
import { createNotifyApi } from '../../server/features/notify/api.ts'
import { channelSenders } from '../../server/features/notify/channels/registry.ts'
import { createSealing } from '../../server/features/notify/channels/secrets.ts'
import {
  type Deliverer,
  type DelivererNeeds,
  openDeliverer,
} from '../../server/features/notify/delivery/deliverer.ts'
import { enqueueDeliveries } from '../../server/features/notify/delivery/enqueue-deliveries.ts'
import { type Network, parseNetwork } from '../../server/lib/ip-network.ts'
import {
  type DatabaseEngine,
  type DatabaseHandle,
  openDatabase,
} from '../../server/storage/database/open-database.ts'
import { migratedDatabase } from './migrated-database.ts'
import type { HttpAnswer, HttpCall } from './server/http-call.ts'
import { ENGINES } from './server/test-server.ts'

const ORIGIN = 'https://go.example'
export const TEST_SECRET = 'a secret that is long enough for a test'

export interface NotificationHarness {
  db: DatabaseHandle
  dataDir: string
  databaseUrl: string | undefined
  /** Milliseconds that the clock is ahead. */
  clockAheadMs: number
  now(): number
  /** What the deliverers here are made of. */
  needs: DelivererNeeds
  /** The one at work, if there is one. */
  deliverer: Deliverer | undefined
  /** Starts one in place of the one before. */
  startDeliverer(over?: Partial<DelivererNeeds>): Promise<Deliverer>
  /** Lets time pass, all at once. */
  advanceClock(ms: number): void
  createWorkspace(): Promise<HarnessWorkspace>
  /** How many attempts of a workspace are over and written down. */
  countAttempts(workspaceId: number): Promise<number>
  close(): Promise<void>
}

export interface HarnessWorkspace {
  id: number
  api(path: string, call?: HttpCall): Promise<HttpAnswer>
  post(path: string, body?: unknown): Promise<HttpAnswer>
  /** Makes a webhook channel. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  createWebhook(url: string, fields?: Record<string, unknown>): Promise<any>
  createForm(channelIds: number[]): Promise<{ id: number; formKey: string; channelIds: number[] }>
  /** Stores submissions as the endpoint does: each with its deliveries in one transaction. @returns their ids */
  submit(form: { id: number; channelIds: number[] }, count?: number): Promise<number[]>
  /** All deliveries, the oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  listDeliveries(query?: string): Promise<any[]>
}

export async function openNotificationHarness(engine: DatabaseEngine): Promise<NotificationHarness> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-outbox-'))
  const database = engine === 'postgres' ? await migratedDatabase() : undefined
  const db = await openDatabase({ dataDir, databaseUrl: database?.url })
  const resolvePendingAttribution = async () => {}
  const send = { allow: [parseNetwork('127.0.0.1') as Network], origin: ORIGIN, timeoutMs: 5_000 }
  const readSubmission = createNotificationContentReader({ db, origin: ORIGIN, resolvePendingAttribution })
  const now = () => Date.now() + outbox.clockAheadMs
  const needs = {
    db,
    now,
    sealing: createSealing(TEST_SECRET),
    senders: channelSenders,
    send,
    readSubmission,
    ownerEmails: (workspaceId: number) => listOwnerEmails({ db }, workspaceId),
    pollMs: 100,
  }
  const wake = (mended?: number) => outbox.deliverer?.wake(mended)
  const features = [
    createNotifyApi({ ...needs, wake }),
    createFormsApi({ origin: ORIGIN, now, resolvePendingAttribution }),
  ]
  // Tests look again and again.
  const limiter = {
    take: () => ({ allowed: true, remaining: 1, waitMs: 0, resetMs: 0 }),
    count: () => 0,
    refund() {},
  }
  const rest = restApi({ db, limiter, now, origin: ORIGIN, secret: TEST_SECRET, version: '0' }, features)
  const outbox: NotificationHarness = {
    db,
    dataDir,
    databaseUrl: database?.url,
    clockAheadMs: 0,
    now,
    needs,
    deliverer: undefined,
    async startDeliverer(over = {}) {
      await outbox.deliverer?.close()
      outbox.deliverer = await openDeliverer({ ...needs, ...over })
      return outbox.deliverer
    },
    advanceClock(ms) {
      outbox.clockAheadMs += ms
      wake()
    },
    createWorkspace: () => createHarnessWorkspace(outbox, rest, wake),
    async countAttempts(workspaceId) {
      const { made } = await db.read
        .selectFrom('delivery_attempts')
        .select((e) => e.fn.countAll<number>().as('made'))
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      return made
    },
    async close() {
      await outbox.deliverer?.close()
      await db.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return outbox
}

async function createHarnessWorkspace(
  { db, now }: NotificationHarness,
  rest: ReturnType<typeof restApi>,
  wake: () => void,
): Promise<HarnessWorkspace> {
  const { id } = await createWorkspace({ db, now }, { name: 'Test', plan: 'enterprise' })
  const { key } = await createKey({ db, now }, id, 'test')

  async function api(
    path: string,
    { method = 'GET', body, headers = {} }: HttpCall = {},
  ): Promise<HttpAnswer> {
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
    createWebhook: (url, fields = {}) => made('/channels', { type: 'webhook', name: 'Hook', url, ...fields }),
    async createForm(channelIds) {
      const { formKey } = await made('/forms', { name: 'Contact', channelIds })
      const row = await db.read
        .selectFrom('forms')
        .select('id')
        .where('form_key', '=', formKey)
        .executeTakeFirstOrThrow()
      return { id: row.id, formKey, channelIds }
    },
    submit: (form, count = 1) =>
      db.write(async (connection, onCommit) => {
        const at = now()
        const of = { workspaceId: id, formId: form.id }
        const sent = Array.from({ length: count }, (_, i) => ({
          fields: [['message', `Hello ${i}`]] as [string, string][],
          created_at: at,
        }))
        const ids = await insertSubmissions(connection, of, sent)
        const { channelIds } = form
        for (const submissionId of ids)
          await enqueueDeliveries(connection, db.engine, { workspaceId: id, submissionId, channelIds, at })
        onCommit(wake)
        return ids
      }),
    async listDeliveries(query = '') {
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
export function notificationsOnBothEngines(name: string, tests: (outbox: () => NotificationHarness) => void) {
  describe.each(ENGINES)(`${name} (%s)`, (engine) => {
    let outbox: NotificationHarness
    beforeAll(async () => {
      outbox = await openNotificationHarness(engine)
    }, 60_000)
    afterAll(() => outbox?.close())
    tests(() => outbox)
  })
}
