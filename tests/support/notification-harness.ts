// Forms, channels and deliveries on a database of their own, with a deliverer whose clock and senders a test sets.

import { afterAll, afterEach, beforeAll, describe } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces/create-workspace.ts'
import { listOwnerEmails } from '../../server/features/accounts/workspaces/members.ts'
import { createFormsApi } from '../../server/features/forms/api.ts'
import { createAddressHasher } from '../../server/features/forms/replies/mailbox.ts'
import { createReplyReader } from '../../server/features/forms/replies/read-reply.ts'
import { createReplyLinks } from '../../server/features/forms/replies/reply-links.ts'
import { createSpamLearner } from '../../server/features/forms/spam/learn-spam.ts'
import { createWorkspaceSpamCache } from '../../server/features/forms/spam/workspace-spam.ts'
import { createNotificationContentReader } from '../../server/features/forms/submissions/notification-content.ts'
import { insertSubmissions } from '../../server/features/forms/submissions/submission.fixture.ts'
import { creditLeads } from '../../server/features/links/credit-leads.ts'
import { createNotifyApi } from '../../server/features/notify/api.ts'
import type { ChannelSender } from '../../server/features/notify/channels/contract.ts'
import { channelSenders } from '../../server/features/notify/channels/registry.ts'
import { createSealing } from '../../server/features/notify/channels/secrets.ts'
import {
  type Deliverer,
  type DelivererNeeds,
  openDeliverer,
} from '../../server/features/notify/delivery/deliverer.ts'
import { enqueueDeliveries } from '../../server/features/notify/outbox/enqueue-deliveries.ts'
import { createRecipientLinks } from '../../server/features/notify/recipients/recipient-links.ts'
import { type Network, parseNetwork } from '../../server/lib/ip-network.ts'
import {
  type DatabaseEngine,
  type DatabaseHandle,
  openDatabase,
} from '../../server/storage/database/open-database.ts'
import { restApi } from '../../server/web/api.ts'
import { startWebhookReceiver, type WebhookReceiver } from './fake-servers/webhook-receiver.ts'
import { migratedDatabase } from './migrated-database.ts'
import { type HttpAnswer, type HttpCall, toVerbs, type Verbs } from './server/http-call.ts'
import { until } from './until.ts'
import { BOTH_ENGINES, ENGINES } from './world.ts'

const ORIGIN = 'https://go.example'
const MAIL_FROM = 'towpath@example.com'
export const TEST_SECRET = 'a secret that is long enough for a test'

export interface NotificationHarness {
  db: DatabaseHandle
  dataDir: string
  databaseUrl: string | undefined
  /** Milliseconds by which the clock is ahead of where it stood at first. It stands still unless a test moves it. */
  clockAheadMs: number
  now(): number
  /** The dependencies of the deliverers that the harness opens. */
  needs: DelivererNeeds
  /** The deliverer that runs at the moment. */
  deliverer: Deliverer | undefined
  /** Closes the running deliverer and opens a new one. @param overrides replace some of `needs` */
  startDeliverer(overrides?: Partial<DelivererNeeds>): Promise<Deliverer>
  /** `needs.senders` with another sender for channels of type webhook. */
  withWebhook(sender: ChannelSender): Pick<DelivererNeeds, 'senders'>
  /** Starts a receiver that stops at the end of the test. */
  startReceiver(respond?: Parameters<WebhookReceiver['respondWith']>[0], port?: number): WebhookReceiver
  /** Moves the clock forward and wakes the deliverer. */
  advanceClock(ms: number): void
  stopReceivers(): Promise<void>
  createWorkspace(): Promise<HarnessWorkspace>
  /** The number of recorded delivery attempts of a workspace. */
  countAttempts(workspaceId: number): Promise<number>
  close(): Promise<void>
}

export interface HarnessWorkspace extends Verbs {
  id: number
  api(path: string, call?: HttpCall): Promise<HttpAnswer>
  /** Creates an email channel whose recipients have confirmed. @returns the answer to its creation */
  createMailChannel(fields: { name: string; to: string[]; [setting: string]: unknown }): Promise<HttpAnswer>
  /** Creates a webhook channel. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  createWebhook(url: string, fields?: Record<string, unknown>): Promise<any>
  createForm(channelIds: number[]): Promise<HarnessForm>
  /** Creates a form with a webhook channel for each URL. */
  createFormTo(...urls: string[]): Promise<HarnessForm>
  /** Stores submissions and their deliveries in one transaction, as the endpoint does. @returns the submissions' ids */
  submit(form: { id: number; channelIds: number[] }, count?: number): Promise<number[]>
  /** All deliveries, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  listDeliveries(query?: string): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  getDelivery(id: number): Promise<any>
  countDeliveries(query: string): Promise<number>
  /** Resolves when `count` deliveries have the status. */
  untilThereAre(count: number, status: string): Promise<void>
  /** Resolves when all deliveries, one at least, have the status. @returns them */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  untilAllAre(status: string): Promise<any[]>
}

export interface HarnessForm {
  id: number
  formKey: string
  channelIds: number[]
}

export async function openNotificationHarness(engine: DatabaseEngine): Promise<NotificationHarness> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-notify-'))
  const database = engine === 'postgres' ? await migratedDatabase() : undefined
  const db = await openDatabase({ dataDir, databaseUrl: database?.url })
  const resolvePendingAttribution = async () => {}
  const send = { allow: [parseNetwork('127.0.0.1') as Network], origin: ORIGIN, timeoutMs: 5_000 }
  const readSubmission = createNotificationContentReader({
    db,
    origin: ORIGIN,
    resolvePendingAttribution,
    toFileUrl: (key) => `${ORIGIN}/f/files/${key}`,
  })
  const startedAt = Date.now()
  const now = () => startedAt + harness.clockAheadMs
  const receivers: WebhookReceiver[] = []
  // Tests poll the API: no request may be limited.
  const limiter = {
    take: () => ({ allowed: true, remaining: 1, waitMs: 0, resetMs: 0 }),
    count: () => 0,
    takeRoughly: () => ({ allowed: true, waitMs: 0 }),
    refund() {},
  }
  const needs = {
    db,
    now,
    sealing: createSealing(TEST_SECRET),
    senders: channelSenders,
    send,
    readSubmission,
    readReply: createReplyReader({
      db,
      links: createReplyLinks(TEST_SECRET, ORIGIN),
      hashAddress: createAddressHasher(TEST_SECRET),
      origin: ORIGIN,
    }),
    recipients: { links: createRecipientLinks(TEST_SECRET, ORIGIN), limiter, origin: ORIGIN },
    ownerEmails: (workspaceId: number) => listOwnerEmails({ db }, workspaceId),
    pollMs: 100,
  }
  const spam = createWorkspaceSpamCache(db, TEST_SECRET)
  const wake = (channelId?: number) => harness.deliverer?.wake(channelId)
  const features = [
    // Email channels can be made. Each deliverer has a mail server of its own, or none.
    createNotifyApi({
      ...needs,
      send: { ...send, smtpUrl: 'smtp://127.0.0.1:9', mailFrom: MAIL_FROM },
      wake,
    }),
    createFormsApi({
      origin: ORIGIN,
      now,
      resolvePendingAttribution,
      isBlocked: () => false,
      wakeDeliverer: () => wake(),
      creditLeads,
      canMail: true,
      canStoreFiles: () => true,
      spam: { ...spam, ...createSpamLearner(TEST_SECRET, spam) },
    }),
  ]
  const rest = restApi({ db, limiter, now, origin: ORIGIN, secret: TEST_SECRET, version: '0' }, features)
  const harness: NotificationHarness = {
    db,
    dataDir,
    databaseUrl: database?.url,
    clockAheadMs: 0,
    now,
    needs,
    deliverer: undefined,
    async startDeliverer(overrides = {}) {
      await harness.deliverer?.close()
      harness.deliverer = await openDeliverer({ ...needs, ...overrides })
      return harness.deliverer
    },
    withWebhook: (webhook) => ({ senders: { ...needs.senders, webhook } }),
    startReceiver(respond, port) {
      const receiver = startWebhookReceiver(port)
      if (respond) receiver.respondWith(respond)
      receivers.push(receiver)
      return receiver
    },
    async stopReceivers() {
      for (const receiver of receivers.splice(0)) await receiver.stop()
    },
    advanceClock(ms) {
      harness.clockAheadMs += ms
      wake()
    },
    createWorkspace: () => createHarnessWorkspace(harness, rest, wake),
    async countAttempts(workspaceId) {
      const { attempts } = await db.read
        .selectFrom('delivery_attempts')
        .select((e) => e.fn.countAll<number>().as('attempts'))
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      return attempts
    },
    async close() {
      await harness.deliverer?.close()
      await harness.stopReceivers()
      await db.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return harness
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
    const answerText = await answer.text()
    return { status: answer.status, headers: answer.headers, text: answerText, json: JSON.parse(answerText) }
  }
  const verbs = toVerbs(api)
  const create = async (path: string, body: unknown) => {
    const { status, text, json } = await verbs.post(path, body)
    if (status !== 201) throw new Error(`${path} created nothing: ${status} ${text}`)
    return json.data
  }
  const workspace: HarnessWorkspace = {
    id,
    api,
    ...verbs,
    async createMailChannel(fields) {
      const created_at = now()
      const confirmed = { workspace_id: id, confirmed_at: created_at, created_at }
      await db.write((connection) =>
        connection
          .insertInto('mail_recipients')
          .values(fields.to.map((email) => ({ ...confirmed, email: email.toLowerCase() })))
          .onConflict((conflict) => conflict.columns(['workspace_id', 'email']).doNothing())
          .execute(),
      )
      return verbs.post('/channels', { type: 'email', ...fields })
    },
    createWebhook: (url, fields = {}) =>
      create('/channels', { type: 'webhook', name: 'Hook', url, ...fields }),
    async createForm(channelIds) {
      const { formKey } = await create('/forms', { name: 'Contact', channelIds })
      const row = await db.read
        .selectFrom('forms')
        .select('id')
        .where('form_key', '=', formKey)
        .executeTakeFirstOrThrow()
      return { id: row.id, formKey, channelIds }
    },
    async createFormTo(...urls) {
      const channels = []
      for (const url of urls) channels.push(await workspace.createWebhook(url))
      return workspace.createForm(channels.map((channel) => channel.id))
    },
    submit: (form, count = 1) =>
      db.write(async (connection, onCommit) => {
        const at = now()
        const location = { workspaceId: id, formId: form.id }
        const submissions = Array.from({ length: count }, (_, i) => ({
          fields: [['message', `Hello ${i}`]] as [string, string][],
          created_at: at,
        }))
        const ids = await insertSubmissions(connection, location, submissions)
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
    getDelivery: async (delivery) => (await api(`/deliveries/${delivery}`)).json.data,
    countDeliveries: async (query) => (await api(`/deliveries?limit=1&${query}`)).json.total,
    untilThereAre: async (count, status) =>
      void (await until(
        `${count} ${status}`,
        async () => (await workspace.countDeliveries(`status=${status}`)) === count,
      )),
    untilAllAre: (status) =>
      until(`everything ${status}`, async () => {
        const all = await workspace.listDeliveries()
        return all.length > 0 && all.every((each) => each.status === status) ? all : undefined
      }),
  }
  return workspace
}

type NotificationTests = (harness: () => NotificationHarness) => void

function onEngines(engines: DatabaseEngine[], name: string, tests: NotificationTests) {
  describe.each(engines)(`${name} (%s)`, (engine) => {
    let harness: NotificationHarness
    beforeAll(async () => {
      harness = await openNotificationHarness(engine)
    }, 60_000)
    afterEach(() => harness?.stopReceivers())
    afterAll(() => harness?.close())
    tests(() => harness)
  })
}

/** Runs the tests on the engines that `onBothEngines` of world.ts chooses. */
export const notificationsOnBothEngines = Object.assign(
  (name: string, tests: NotificationTests) => onEngines(ENGINES, name, tests),
  { quick: (name: string, tests: NotificationTests) => onEngines(BOTH_ENGINES, name, tests) },
)
