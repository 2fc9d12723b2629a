// Measures deliveries per second to a receiver on this machine: bun bench/deliveries.ts. The result is a ratio to a bare
// loop that sends the same requests and records nothing. Alternating rounds in one run, on SQLite.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRateLimiter } from '../server/features/accounts/access/rate-limiter.ts'
import { createWorkspace } from '../server/features/accounts/workspaces/create-workspace.ts'
import { createNotificationContentReader } from '../server/features/forms/submissions/notification-content.ts'
import { insertSubmissions } from '../server/features/forms/submissions/submission.fixture.ts'
import type { Notice } from '../server/features/notify/channels/contract.ts'
import { createChannel } from '../server/features/notify/channels/create-channel.ts'
import { channelSenders } from '../server/features/notify/channels/registry.ts'
import { createSealing } from '../server/features/notify/channels/secrets.ts'
import { openDeliverer } from '../server/features/notify/delivery/deliverer.ts'
import { enqueueDeliveries } from '../server/features/notify/outbox/enqueue-deliveries.ts'
import { createRecipientLinks } from '../server/features/notify/recipients/recipient-links.ts'
import { type Network, parseNetwork } from '../server/lib/ip-network.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { median } from './median.ts'

const ROUNDS = 5
const CHANNELS = 16
const EACH = 100
/** As many as the deliverer runs at the same time. */
const CONCURRENT_REQUESTS = 32

const dataDir = mkdtempSync(join(tmpdir(), 'towpath-bench-'))
const db = await openDatabase({ dataDir })
const origin = 'https://go.example'
let received = 0
// In a thread of its own, because the benchmark does not measure the receiver.
const receiver = new Worker(
  URL.createObjectURL(
    new Blob([
      `const server = Bun.serve({ port: 0, hostname: '127.0.0.1', async fetch(request) {
        await request.arrayBuffer()
        postMessage(0)
        return new Response('ok')
      } })
      postMessage(server.port)`,
    ]),
  ),
)
const port = await new Promise<number>((resolve) => {
  receiver.onmessage = ({ data }) => resolve(data)
})
receiver.onmessage = () => {
  received++
}
const url = `http://127.0.0.1:${port}/hook`
const send = { allow: [parseNetwork('127.0.0.1') as Network], origin }
const secret = 'a secret that is long enough for a bench'
const recipients = { links: createRecipientLinks(secret, origin), limiter: createRateLimiter(db), origin }
const needs = { db, now: Date.now, sealing: createSealing(secret), recipients, send }
const { id: workspaceId } = await createWorkspace(needs, { name: 'Bench', plan: 'enterprise' })
const actor = { kind: 'operator', workspaceId, plan: 'enterprise', keyId: null } as const
const channels = await Promise.all(
  Array.from({ length: CHANNELS }, (_, i) =>
    createChannel(needs, actor, { type: 'webhook', name: `Hook ${i}`, url }),
  ),
)
const form = await db.write((connection) =>
  connection
    .insertInto('forms')
    .values({ workspace_id: workspaceId, form_key: 'bench', name: 'Bench', created_at: 1, updated_at: 1 })
    .returning('id')
    .executeTakeFirstOrThrow(),
)
const read = createNotificationContentReader({
  db,
  origin,
  resolvePendingAttribution: async () => {},
  toFileUrl: () => '',
})

async function waitUntilReceived(count: number) {
  while (received < count) await Bun.sleep(1)
}

/** @returns deliveries per second, each with its record */
async function measureDeliverer(): Promise<number> {
  const receivedBefore = received
  await db.write(async (connection) => {
    const ids = await insertSubmissions(
      connection,
      { workspaceId, formId: form.id },
      Array.from({ length: EACH }, () => ({})),
    )
    const channelIds = channels.map(({ id }) => id)
    for (const submissionId of ids)
      await enqueueDeliveries(connection, db.engine, {
        workspaceId,
        submissionId,
        channelIds,
        at: Date.now(),
      })
  })
  const startedAt = performance.now()
  const deliverer = await openDeliverer({
    ...needs,
    senders: channelSenders,
    send,
    readSubmission: read,
    readReply: async () => undefined,
    ownerEmails: async () => [],
  })
  await waitUntilReceived(receivedBefore + CHANNELS * EACH)
  await deliverer.close()
  return (CHANNELS * EACH * 1000) / (performance.now() - startedAt)
}

/** @returns the same signed requests per second, sent by a loop that does nothing else */
async function measureBareLoop(): Promise<number> {
  const [submission] = await db.read.selectFrom('submissions').select('id').limit(1).execute()
  const content = await read(workspaceId, submission?.id ?? 0)
  if (!content) throw new Error('there is no submission')
  const notice: Notice = { ...content, event: 'submission.created', messageId: 'msg_bench', at: Date.now() }
  const secrets = { url, secrets: [channels[0]?.secret ?? ''] }
  const to = { name: 'Hook', recipients: [], chatId: null, secrets }
  let left = CHANNELS * EACH
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: CONCURRENT_REQUESTS }, async () => {
      while (left-- > 0) await channelSenders.webhook(send, to, { ...notice, at: Date.now() })
    }),
  )
  return (CHANNELS * EACH * 1000) / (performance.now() - startedAt)
}

const ratios: number[] = []
await measureDeliverer()
for (let round = 1; round <= ROUNDS; round++) {
  const [ours, theirs] =
    round % 2
      ? [await measureDeliverer(), await measureBareLoop()]
      : [await measureBareLoop(), await measureDeliverer()].reverse()
  ratios.push((ours ?? 0) / (theirs ?? 1))
  process.stdout.write(
    `round ${round}: ${Math.round(ours ?? 0)} deliveries/s, ${Math.round(theirs ?? 0)} bare requests/s, ratio ${ratios.at(-1)?.toFixed(2)}\n`,
  )
}
process.stdout.write(`median ratio ${median(ratios).toFixed(2)} (the target is at least 0.5)\n`)
receiver.terminate()
await db.close()
rmSync(dataDir, { recursive: true, force: true })
process.exit(0)
