// Measures deliveries to one receiver that answers at once: of a backlog alone, and beside what visitors send in a soak.
// bun bench/deliveries-beside-load.ts [seconds] [another checkout to compare with]. Ratios are of one run.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertSubmissions } from '../server/features/forms/submissions/submission.fixture.ts'
import type { createChannel } from '../server/features/notify/channels/create-channel.ts'
import { createSealing } from '../server/features/notify/channels/secrets.ts'
import { type Network, parseNetwork } from '../server/lib/ip-network.ts'
import type { DatabaseHandle } from '../server/storage/database/open-database.ts'
import { seedLinks, startTowpath } from './servers.ts'

const BACKLOG = 3_000
const FORM_KEY = 'benchforms'
const SECRET = 'a secret that is long enough for a bench'

const root = join(import.meta.dir, '..')
const seconds = Number(process.argv[2] ?? 60)
const checkouts = [root, ...process.argv.slice(3, 4)]

interface Rates {
  alone: number
  besideLoad: number
  submissions: number
}

/** Counts requests, and answers them at once. */
async function startReceiver() {
  const program = `let received = 0
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', async fetch(request) {
      if (request.url.endsWith('/count')) return new Response(String(received))
      await request.arrayBuffer()
      received++
      return new Response('ok')
    } })
    console.log(server.port)`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const origin = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}`
  return {
    url: `${origin}/hook`,
    count: async () => Number(await (await fetch(`${origin}/count`)).text()),
    end: () => child.kill(),
  }
}

/** A form with one webhook, and deliveries that wait for it. */
async function seed(db: DatabaseHandle, create: typeof createChannel, url: string) {
  const workspaceId = await seedLinks(db, 1000)
  const actor = { kind: 'operator', workspaceId, plan: 'enterprise', keyId: null } as const
  const send = { allow: [parseNetwork('127.0.0.1') as Network], origin: 'http://localhost' }
  const needs = { db, now: Date.now, sealing: createSealing(SECRET), send, recipients: {} as never }
  const channel = await create(needs, actor, { type: 'webhook', name: 'Hook', url })
  const at = Date.now()
  await db.write(async (connection) => {
    const names = { form_key: FORM_KEY, name: 'Contact', channel_ids: JSON.stringify([channel.id]) }
    const { id: formId } = await connection
      .insertInto('forms')
      .values({ workspace_id: workspaceId, ...names, created_at: at, updated_at: at })
      .returning('id')
      .executeTakeFirstOrThrow()
    const submissions = Array.from({ length: BACKLOG }, () => ({}))
    const ids = await insertSubmissions(connection, { workspaceId, formId }, submissions)
    const waiting = { workspace_id: workspaceId, channel_id: channel.id, status: 'waiting' }
    for (let from = 0; from < ids.length; from += 500)
      await connection
        .insertInto('deliveries')
        .values(
          ids.slice(from, from + 500).map((submission_id) => ({
            ...waiting,
            submission_id,
            event: 'submission.created',
            message_id: `msg_${submission_id}`,
            due_at: at,
            created_at: at,
          })),
        )
        .execute()
  })
}

async function measure(checkout: string): Promise<Rates> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-bench-'))
  const receiver = await startReceiver()
  // The other checkout has a database of its own release.
  const { openDatabase } = await import(`${checkout}/server/storage/database/open-database.ts`)
  const channels = await import(`${checkout}/server/features/notify/channels/create-channel.ts`)
  const db: DatabaseHandle = await openDatabase({ dataDir })
  await seed(db, channels.createChannel, receiver.url)
  await db.close()
  const environment = {
    DATA_DIR: dataDir,
    TRUST_PROXY: '127.0.0.1',
    TOWPATH_SECRET: SECRET,
    WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
  }
  const server = await startTowpath(environment, { checkout })
  try {
    while ((await receiver.count()) < 100) await Bun.sleep(5)
    const [firstAt, first] = [performance.now(), await receiver.count()]
    while ((await receiver.count()) < BACKLOG) await Bun.sleep(5)
    const alone = ((BACKLOG - first) * 1000) / (performance.now() - firstAt)
    const load = [join(root, 'bench/deliveries-load.ts'), server.port, FORM_KEY, seconds].map(String)
    const child = Bun.spawn([process.execPath, ...load], { stderr: 'inherit' })
    const sent = JSON.parse(await new Response(child.stdout).text())
    const delivered = (await receiver.count()) - BACKLOG
    return {
      alone,
      besideLoad: delivered / sent.seconds,
      submissions: sent.submissions / sent.seconds,
    }
  } finally {
    await server.end()
    receiver.end()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const results: Rates[] = []
for (const checkout of checkouts) {
  const rates = await measure(checkout)
  results.push(rates)
  const { alone, besideLoad, submissions } = rates
  const ratio = (besideLoad / submissions).toFixed(2)
  process.stdout.write(
    `${checkout === root ? 'this checkout' : 'the other one'}: alone ${alone.toFixed(0)} deliveries/s; beside the load ` +
      `${besideLoad.toFixed(1)} deliveries/s, ${submissions.toFixed(1)} submissions/s, ratio ${ratio}\n`,
  )
}
const [ours, theirs] = results
if (ours && theirs) {
  const [alone, beside] = [ours.alone / theirs.alone, ours.besideLoad / theirs.besideLoad]
  process.stdout.write(`this checkout / the other: alone ${alone.toFixed(1)}, beside ${beside.toFixed(1)}\n`)
}
process.exit(0)
