// Three nodes on one PostgreSQL answer as one server: docs/contract.md §12. The full suite starts them as processes, and
// with ClickHouse.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import pg from 'pg'
import { createKey, revokeKey } from '../../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces/create-workspace.ts'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { isAcknowledged } from '../faults/form-submissions.ts'
import type { ServerClient } from '../faults/server-process.ts'
import { CLUSTER_START_MS, type Nodes, startCluster, startNodes } from '../support/cluster/start-cluster.ts'
import { startDnsServer } from '../support/fake-servers/dns-server.ts'
import { nextSenderAddress, SCRIPT_HEADERS } from '../support/form-requests.ts'
import { writeShlinkFiles } from '../support/imports/shlink-files.ts'
import { sendImport, undoImport, waitForEnd } from '../support/imports/upload-client.ts'
import { proveDomain } from '../support/prove-domain.ts'
import { readMetric } from '../support/read-metrics.ts'
import { atScale, full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const RACERS = atScale({ quick: 30, full: 200, soak: 200 })
const STORIES = 200
const DESTINATION = 'https://shop.example/landing'

const start = atScale<(...options: Parameters<typeof startCluster>) => Promise<Nodes>>({
  quick: startNodes,
  full: startCluster,
  soak: startCluster,
})
let cluster: Nodes
let key: string
const dns = await startDnsServer()
beforeAll(async () => {
  cluster = await start(5, { environment: { DNS_SERVERS: dns.address } })
  key = cluster.keys[0] as string
}, CLUSTER_START_MS)
afterAll(() => Promise.all([cluster?.end(), dns.stop()]))

const createLink = async (slug: string, fields: Record<string, unknown> = {}) => {
  const { status, text, json } = await cluster
    .pick(0)
    .api(key, '/links', { slug, destinationUrl: DESTINATION, ...fields })
  if (status !== 201) throw new Error(`the link was not created: ${status} ${text}`)
  return json.data as { id: number }
}

const editLink = async (node: ServerClient, id: number, fields: Record<string, unknown>) => {
  const response = await fetch(`${node.origin}/v1/links/${id}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(fields),
  })
  expect(response.status).toBe(200)
}

const readDestination = async (node: ServerClient, slug: string) => {
  const { status, headers } = await node.click(slug, { 'X-Forwarded-For': nextSenderAddress() })
  return status === 302 ? headers.get('location') : status
}

const waitUntilAllSee = (slug: string, destination: string | number) =>
  until(`all nodes to redirect ${slug} to ${destination}`, async () => {
    const seen = await Promise.all(cluster.nodes.map((node) => readDestination(node, slug)))
    return seen.every((found) => found === destination)
  })

describe('an edit', () => {
  test('of a link that all nodes know is seen by all', async () => {
    const { id } = await createLink('edited')
    await waitUntilAllSee('edited', DESTINATION)
    for (const [number, node] of cluster.nodes.entries()) {
      const destination = `https://shop.example/edit-${number}`
      await editLink(node, id, { destinationUrl: destination })
      // At once where it was made.
      expect(await readDestination(node, 'edited')).toBe(destination)
      await waitUntilAllSee('edited', destination)
    }
  })

  test('is seen while another transaction holds an older place in the feed, and so is that one later', async () => {
    await createLink('held')
    const { id } = await createLink('passing')
    await Promise.all(['held', 'passing'].map((slug) => waitUntilAllSee(slug, DESTINATION)))
    const client = new pg.Client({ connectionString: cluster.databaseUrl })
    await client.connect()
    try {
      await client.query('begin')
      // The work of the verb, in a transaction that stays open.
      await client.query(
        "update links set destination_url = 'https://shop.example/held' where slug_key = 'held'",
      )
      await client.query("insert into changes (domain, slug_key) values ('', 'held')")
      await editLink(cluster.pick(1), id, { destinationUrl: 'https://shop.example/passed' })
      await waitUntilAllSee('passing', 'https://shop.example/passed')
      await waitUntilAllSee('held', DESTINATION)
      await client.query('commit')
      await waitUntilAllSee('held', 'https://shop.example/held')
    } finally {
      await client.end()
    }
  })

  test('of a slug that nobody had is seen where the slug was unknown before', async () => {
    await waitUntilAllSee('fresh', 404)
    await createLink('fresh')
    await waitUntilAllSee('fresh', DESTINATION)
  })
})

describe('a domain that one node verifies', () => {
  const DOMAIN = 'go.brand.example'
  const call = async (node: ServerClient, method: string, path: string) => {
    const response = await fetch(`${node.origin}/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}` },
    })
    return { status: response.status, json: await response.json() }
  }
  const ask = async (node: ServerClient, path: string) => {
    const { status, headers } = await node.click(path, {
      Host: DOMAIN,
      'X-Forwarded-For': nextSenderAddress(),
    })
    return status === 302 ? headers.get('location') : status
  }
  const waitUntilAllAnswer = (path: string, expected: string | number) =>
    until(`all nodes to answer ${DOMAIN}/${path} with ${expected}`, async () => {
      const seen = await Promise.all(cluster.nodes.map((node) => ask(node, path)))
      return seen.every((found) => found === expected)
    })
  let id: number

  test('answers on all nodes, and on the one that verified it before its answer', async () => {
    await waitUntilAllAnswer('spring', 404)
    id = await proveDomain((path, body) => cluster.pick(1).api(key, path, body), dns, DOMAIN)
    expect(await ask(cluster.pick(1), 'robots.txt')).toBe(200)
    await createLink('spring', { domain: DOMAIN })
    await waitUntilAllAnswer('spring', DESTINATION)
  })

  full('is no source of visitors for any node', async () => {
    let clicks = 0
    // A worker reads clicks and messages side by side, so a click of the first moment may still have the source.
    for (const node of cluster.nodes)
      await until('a click of the node without a source', async () => {
        const slug = `referred-${++clicks}`
        const { id: linkId } = await createLink(slug)
        const headers = { Referer: `https://${DOMAIN}/x`, 'X-Forwarded-For': nextSenderAddress() }
        expect((await node.click(slug, headers)).status).toBe(302)
        await until('analytics to have it', async () => {
          return (await readMetric(node.origin, 'towpath_hits_lag_seconds')) === 0
        })
        const path = `/analytics/clicks?groupBy=referrer&linkId=${linkId}`
        const { json } = await cluster.pick(0).api(key, path)
        return json.data[0].referrer === '(direct)'
      })
  })

  test('is gone from all nodes with its links, which answer on the default domain then', async () => {
    expect((await call(cluster.pick(2), 'DELETE', `/domains/${id}?moveTo=default`)).status).toBe(200)
    expect(await ask(cluster.pick(2), 'spring')).toBe(404)
    await waitUntilAllAnswer('spring', 404)
    await waitUntilAllSee('spring', DESTINATION)
  })
})

full(
  'an import runs on the node that has its file; the others show it, lead to its links, count its clicks and undo it',
  async () => {
    const [importer, ...others] = cluster.nodes as [ServerClient, ...ServerClient[]]
    const ownKey = cluster.keys[4] as string
    const toTarget = ({ origin }: ServerClient) => ({ origin, key: ownKey })
    const files = writeShlinkFiles(40, 10)
    const { json } = await sendImport(toTarget(importer), {
      fields: { source: 'shlink' },
      file: files.links,
      clicks: files.visits,
    })
    const { id } = json.data
    for (const node of others) {
      expect(await waitForEnd(toTarget(node), id)).toMatchObject({
        status: 'done',
        created: 40,
        clicks: files.total,
      })
      await until('the links of the import', async () => {
        const { status, headers } = await node.click('Link-7', { 'X-Forwarded-For': nextSenderAddress() })
        return status === 302 && headers.get('location') === 'https://shop.example/7?from=link'
      })
      const clicks = [...files.people.values()].reduce((sum, count) => sum + count, 0)
      const counted = await until('the imported clicks', async () => {
        const answer = await node.api(ownKey, '/analytics/clicks?start=2024-01-01&end=2025-12-31')
        return answer.json.data?.clicks >= clicks && answer.json.data
      })
      expect(counted).toMatchObject({ clicks, visitors: 0 })
    }
    // The node that is asked needs neither the files nor the links in its memory.
    expect((await undoImport(toTarget(others[0] as ServerClient), id)).status).toBe('undone')
    await until('all nodes to know that the links are gone', async () => {
      const seen = await Promise.all(
        cluster.nodes.map((node) => node.click('Link-7', { 'X-Forwarded-For': nextSenderAddress() })),
      )
      return seen.every(({ status }) => status === 404)
    })
    for (const node of cluster.nodes)
      await until('the imported clicks to be gone', async () => {
        const { json: left } = await node.api(ownKey, '/analytics/clicks?start=2024-01-01&end=2025-12-31')
        return left.data?.clicks === 0
      })
  },
  120_000,
)

test('a form takes no files where the servers share no store for them, and says what is missing', async () => {
  for (const node of cluster.nodes) {
    const { status, json } = await node.api(key, '/forms', { name: 'Apply', uploads: {} })
    expect([status, Object.keys(json.errors)]).toEqual([422, ['uploads']])
    expect(JSON.stringify(json)).toContain('UPLOADS_S3_URL')
  }
})

test('one slug that many requests ask for at all nodes becomes one link', async () => {
  const answers = await Promise.all(
    Array.from({ length: RACERS }, (_, number) =>
      cluster
        .pick(number)
        .api(cluster.keys[1] as string, '/links', { slug: 'wanted', destinationUrl: DESTINATION }),
    ),
  )
  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([201, ...Array(RACERS - 1).fill(409)])
})

test('a key that one node revokes is refused by the next request at each node', async () => {
  const { json } = await cluster.pick(0).api(key, '/links?limit=1')
  expect(json.data).toBeArray()
  const database = await openDatabase({ dataDir: tmpdir(), databaseUrl: cluster.databaseUrl })
  try {
    const needs = { db: database, now: () => Date.UTC(2026, 5, 11, 12) }
    const { id } = await createWorkspace(needs, { name: 'Revoked', plan: 'enterprise' })
    const made = await createKey(needs, id, 'revoked')
    const readStatuses = () =>
      Promise.all(cluster.nodes.map(async (node) => (await node.api(made.key, '/links')).status))
    // Every node has seen the key, and no node remembers it.
    expect(await readStatuses()).toEqual([200, 200, 200])
    await revokeKey(needs, made.id)
    expect(await readStatuses()).toEqual([401, 401, 401])
  } finally {
    await database.close()
  }
})

describe('limits', () => {
  test('of senders are exact across nodes', async () => {
    const { json } = await cluster.pick(0).api(key, '/forms', { name: 'Limited' })
    const address = nextSenderAddress()
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, number) =>
        cluster
          .pick(number)
          .submit(json.data.formKey, `n=${number}`, { ...SCRIPT_HEADERS, 'X-Forwarded-For': address }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(14)
  })

  test('of clicks are exact across nodes', async () => {
    await createLink('limited', { clickLimit: 50 })
    const found = await Promise.all(
      Array.from({ length: 150 }, (_, number) => readDestination(cluster.pick(number), 'limited')),
    )
    expect(found.filter((destination) => destination === DESTINATION)).toHaveLength(50)
  })

  test('of password tries are exact across nodes', async () => {
    await createLink('guarded', { password: 'correct horse battery' })
    const address = nextSenderAddress()
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, number) => {
        const response = await fetch(`${cluster.pick(number).origin}/guarded`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ password: `wrong ${number}` }),
          headers: { 'X-Forwarded-For': address, 'User-Agent': BROWSER_USER_AGENT },
        })
        return response.status
      }),
    )
    expect(statuses.filter((status) => status !== 429)).toHaveLength(5)
  })
})

/** The attribution of every submission of a form. */
async function listAttributions(node: ServerClient, formKey: string): Promise<string[]> {
  const all: string[] = []
  for (let cursor = ''; ; ) {
    const { json } = await node.api(key, `/forms/${formKey}/submissions?limit=100${cursor}`)
    all.push(...json.data.map(({ attribution }: { attribution: string }) => attribution))
    if (!json.nextCursor) return all
    cursor = `&cursor=${encodeURIComponent(json.nextCursor)}`
  }
}

full('a click on one node and a form on another are one story, each time', async () => {
  await createLink('story')
  const { json } = await cluster.pick(0).api(key, '/forms', { name: 'Story' })
  const { formKey } = json.data
  const pairs = Array.from({ length: STORIES }, (_, number) => number)
  const sendOne = async (number: number) => {
    const visitor = { 'X-Forwarded-For': nextSenderAddress(), 'User-Agent': BROWSER_USER_AGENT }
    const { status } = await cluster.pick(number).click('story', visitor)
    expect(status).toBe(302)
    // Each pair of nodes in turn, never the node of the click.
    const other = cluster.pick(number + 1 + (Math.floor(number / 3) % 2))
    const answer = await other.submit(formKey, `n=${number}`, { ...SCRIPT_HEADERS, ...visitor })
    expect(isAcknowledged(answer, 'script')).toBe(true)
  }
  for (let from = 0; from < pairs.length; from += 20)
    await Promise.all(pairs.slice(from, from + 20).map(sendOne))
  const attributions = await until('every submission to have a decision', async () => {
    const all = await listAttributions(cluster.pick(2), formKey)
    return all.includes('pending') ? undefined : all
  })
  expect(attributions).toHaveLength(STORIES)
  expect(new Set(attributions)).toEqual(new Set(['inferred']))
})

full(
  'analytics are the same at every node, and no node says that it counted what another has not shipped',
  async () => {
    await createLink('counted')
    let sent = 0
    for (const node of cluster.nodes)
      for (let n = 0; n < 20; n++) {
        await node.click('counted', { 'X-Forwarded-For': nextSenderAddress() })
        sent++
      }
    const sentAt = Date.now()
    for (const node of cluster.nodes) {
      const { json } = await until('the clicks to be counted', async () => {
        const answer = await node.api(key, '/analytics/clicks?interval=24h&slug=counted')
        return Date.parse(answer.headers.get('x-counted-until') ?? '') > sentAt ? answer : undefined
      })
      expect(json.data.clicks).toBe(sent)
    }
  },
)
