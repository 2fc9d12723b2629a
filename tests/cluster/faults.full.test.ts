// Three nodes under load while each process is killed in turn: acknowledged = stored = counted. Nothing is lost, and
// nothing counts twice.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createLinkOverHttp, readCountedClicks, waitUntilCountersAgree } from '../faults/click-counts.ts'
import { createFormOverHttp, isAcknowledged, readMarker, sendSubmission } from '../faults/form-submissions.ts'
import { type LoadGenerator, startLoadGenerator } from '../faults/load-generator.ts'
import { createClient, type ServerClient, type ServerProcess } from '../faults/server-process.ts'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { CLICKHOUSE_START_MS } from '../support/clickhouse/clickhouse-server.ts'
import { type Cluster, startCluster } from '../support/cluster/start-cluster.ts'
import { startCaddy } from '../support/processes/caddy.ts'
import { createRandomMs } from '../support/random.ts'
import { readMetric } from '../support/read-metrics.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'

const randomMs = createRandomMs('kills of nodes')

/** One link for each sender: an answer of analytics names at most 1,000 values. Clicks above that have no name. */
const SENDERS = 6
const NAMED_MAX = 900
const FORM_SENDERS = 3
/** Enough that a fault comes between many answers, on a slow machine too. */
const ANSWERS_BEFORE_FAULT = 60
const ROUNDS = atScale({ full: 1, soak: 5 })
/** How many nodes are restarted in turn. */
const RESTARTS = atScale({ full: 1, soak: 3 })
const WITHIN_MS = 60_000
/** The load goes on for as long as a fault takes, and each click is looked up afterwards. */
const PAUSE_MS = 30

let cluster: Cluster
let form: string
beforeAll(async () => {
  cluster = await startCluster(SENDERS, { durable: true })
  form = await createFormOverHttp(cluster.pick(0), { keys: cluster.keys })
}, CLICKHOUSE_START_MS)
afterAll(() => cluster.end())

interface ClusterLoad {
  clicks: LoadGenerator
  forms: LoadGenerator
  /** Ends the load and compares what was acknowledged with what is stored and counted. */
  verify(): Promise<void>
}

let loads = 0

/** @param pick where the nth request goes */
async function startLoad(pick: (request: number) => ServerClient = cluster.pick): Promise<ClusterLoad> {
  const load = loads++
  const slugs = Array.from({ length: SENDERS }, (_, sender) => `load${load}-${sender}`)
  for (const [sender, slug] of slugs.entries())
    expect((await createLinkOverHttp(slug, getKey(sender), cluster.pick(sender))).status).toBe(201)
  expect((await createLinkOverHttp(`load${load}-rest`, getKey(0), cluster.pick(0))).status).toBe(201)
  const sent = new Map(slugs.map((slug) => [slug, new Set<string>()]))
  const clicks = startLoadGenerator(SENDERS, async (number) => {
    const slug = slugs[number % SENDERS] as string
    const markers = sent.get(slug) as Set<string>
    await Bun.sleep(PAUSE_MS)
    if (markers.size >= NAMED_MAX) return pick(number).click(`load${load}-rest`)
    const marker = `${slug}-${number}`
    markers.add(marker)
    const { status, headers } = await pick(number).click(`${slug}?utm_term=${marker}`)
    return { status, headers, acknowledged: status === 302 ? marker : undefined }
  })
  const forms = startLoadGenerator(FORM_SENDERS, async (number) => {
    const marker = `load${load}-form${number}`
    const answer = await sendSubmission(pick(number), form, marker, 'script')
    const acknowledged = isAcknowledged(answer, 'script') ? marker : undefined
    return { status: answer.status, headers: answer.headers, acknowledged }
  })
  return {
    clicks,
    forms,
    async verify() {
      await Promise.all([clicks.stop(), forms.stop()])
      await verifyClicks(sent, clicks.acknowledged)
      const stored = await readStoredMarkers(`load${load}-form`)
      expect(forms.acknowledged.filter((marker) => !stored.includes(marker))).toEqual([])
      expect(new Set(stored).size).toBe(stored.length)
    },
  }
}

const getKey = (sender: number) => cluster.keys[sender] as string

async function verifyClicks(sent: Map<string, Set<string>>, acknowledged: string[]) {
  const answered = new Set(acknowledged)
  const node = cluster.pick(0)
  for (const [sender, [slug, markers]] of [...sent].entries()) {
    const counted = await readCountedClicks(node, getKey(sender), slug)
    const own = [...markers].filter((marker) => answered.has(marker))
    expect(own.length).toBeGreaterThan(0)
    expect(own.filter((marker) => !counted.has(marker))).toEqual([])
    expect([...counted].filter(([marker, count]) => count !== 1 || !markers.has(marker))).toEqual([])
  }
  await waitUntilCountersAgree(node, cluster.keys)
}

async function readStoredMarkers(prefix: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: cluster.postgres.url })
  await client.connect()
  try {
    const { rows } = await client.query('select fields from submissions')
    return rows.map(({ fields }) => readMarker(fields)).filter((marker) => marker.startsWith(prefix))
  } finally {
    await client.end()
  }
}

/** Waits for some more answers of both kinds, so that a fault never hits an idle cluster. */
async function waitForAnswers({ clicks, forms }: ClusterLoad) {
  const count = () => [clicks.statuses.get(302) ?? 0, forms.acknowledged.length] as const
  const [clicksBefore, formsBefore] = count()
  await until(
    'more answers under load',
    () => {
      const [clicked, sent] = count()
      return clicked - clicksBefore > ANSWERS_BEFORE_FAULT && sent - formsBefore > ANSWERS_BEFORE_FAULT / 10
    },
    WITHIN_MS,
  )
  // A kill at a fixed moment would always hit the same code.
  await Bun.sleep(randomMs(0, 200))
}

test('kill -9 of each node in turn under load: acknowledged = stored = counted', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const load = await startLoad()
    for (const [number, node] of cluster.nodes.entries()) {
      await waitForAnswers(load)
      await node.kill()
      await waitForAnswersOfOthers(load, node)
      await cluster.startNode(number)
    }
    await load.verify()
  }
}, 600_000)

/** The other nodes answer while one is away. */
async function waitForAnswersOfOthers(load: ClusterLoad, killed: ServerProcess) {
  await waitForAnswers(load)
  await expect(killed.click('anything')).rejects.toThrow()
}

test('PostgreSQL restarted at once under load: clicks go on, and every acknowledged submission is stored', async () => {
  const load = await startLoad()
  await waitForAnswers(load)
  await cluster.postgres.restart('immediate')
  await waitForAnswers(load)
  await load.verify()
  expect(load.clicks.withoutRetryAfter + load.forms.withoutRetryAfter).toBe(0)
}, 600_000)

test('ClickHouse away under load: redirects and forms do not notice, and everything is counted once', async () => {
  const load = await startLoad()
  await waitForAnswers(load)
  await cluster.clickHouse.kill()
  const answer = await until('analytics to be unavailable', async () => {
    const found = await cluster.pick(1).api(getKey(0), '/analytics/clicks?interval=24h')
    return found.status === 503 ? found : undefined
  })
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  await waitForAnswers(load)
  expect([...load.clicks.statuses.keys()].filter((status) => status !== 302)).toEqual([])
  expect([...load.forms.statuses.keys()].filter((status) => status !== 200)).toEqual([])
  // The answers of the first inserts are lost: their fate is unknown to the nodes.
  await cluster.clickHouse.start()
  await cluster.clickHouse.cutAnswerAfter('INSERT')
  await waitForAnswers(load)
  await load.verify()
}, 600_000)

test('nodes restarted in turn behind the balancer of deploy/: no visitor notices, and nothing is lost', async () => {
  const caddy = await startBalancer()
  try {
    const balancer = createClient(caddy.origin)
    const load = await startLoad(() => balancer)
    for (const [number, node] of cluster.nodes.slice(0, RESTARTS).entries()) {
      await waitForAnswers(load)
      expect(await node.stop()).toBe(0)
      await waitForAnswers(load)
      const { origin } = await cluster.startNode(number)
      const getHits = () => readMetric(origin, 'towpath_hits_total')
      await until('the balancer to send it visitors again', async () => (await getHits()) > 0)
    }
    await waitForAnswers(load)
    await load.verify()
    expect([...load.clicks.statuses.keys()]).toEqual([302])
    // Caddy does not send a form twice: it cannot know whether the node that stopped had taken it.
    expect([...load.forms.statuses.keys()].filter((status) => status !== 200 && status !== 502)).toEqual([])
    expect(load.forms.statuses.get(502) ?? 0).toBeLessThanOrEqual(RESTARTS * FORM_SENDERS)
  } finally {
    await caddy.end()
  }
}, 600_000)

/** The balancer of deploy/, which looks after the nodes more often, and waits longer for a machine that is slow. */
function startBalancer() {
  const caddyfile = readFileSync(join(ROOT, 'deploy/cluster/Caddyfile'), 'utf8')
  const upstreams = cluster.nodes.map(({ origin }) => new URL(origin).host).join(' ')
  const changes = {
    'node-1:3000 node-2:3000 node-3:3000': upstreams,
    'node-1:3001 node-2:3001 node-3:3001': upstreams,
    'lb_try_duration 5s': 'lb_try_duration 60s',
    'health_interval 5s': 'health_interval 250ms',
    'health_timeout 3s': 'health_timeout 60s',
    // The nodes have no second port. Each sender has an address of its own, which Caddy passes on.
    'health_port 3001': 'trusted_proxies 127.0.0.1/32',
  }
  let snippets = caddyfile.match(/^\((nodes|towpath)\)[\s\S]*?^}/gm)?.join('\n') ?? ''
  for (const [text, instead] of Object.entries(changes)) {
    expect(snippets).toContain(text)
    snippets = snippets.replaceAll(text, instead)
  }
  return startCaddy('import towpath', snippets)
}

test('a newer release migrates beside this one: nodes of this release go on, and start again', async () => {
  const client = new pg.Client({ connectionString: cluster.postgres.url })
  await client.connect()
  const load = await startLoad()
  try {
    // The next release begins with a migration that this release does not know, and that it can work with.
    await client.query(
      "alter table links add column later text; insert into kysely_migration (name, timestamp) values ('9999-later', now())",
    )
    await waitForAnswers(load)
    expect(await (cluster.nodes[2] as ServerProcess).stop()).toBe(0)
    await cluster.startNode(2)
    await waitForAnswers(load)
    // The release after it needs every node to be newer than this one.
    const { rows } = await client.query('select floor from instance')
    await client.query("update instance set floor = '9999-later'")
    await (cluster.nodes[2] as ServerProcess).stop()
    await expect(cluster.startNode(2)).rejects.toThrow(/newer version of Towpath/)
    await client.query('update instance set floor = $1', [rows[0].floor])
    await cluster.startNode(2)
    await load.verify()
  } finally {
    await client.query(
      "delete from kysely_migration where name = '9999-later'; alter table links drop column later",
    )
    await client.end()
  }
}, 600_000)
