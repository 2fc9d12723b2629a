// Measures the cost of each step from spool to engine: the processor time that the step adds to reading the spool. The
// engine's load has a core of its own, and its cost is wall time.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { createBatch } from '../server/features/hits/batches/batch-file.ts'
import { countClick } from '../server/features/hits/batches/click-counts.ts'
import { createEnricher } from '../server/features/hits/batches/enricher.ts'
import { createLineBuffer } from '../server/features/hits/batches/ndjson-line.ts'
import type { RawHit } from '../server/features/hits/spool/raw-hit.ts'
import { HEADER_BYTES } from '../server/features/hits/spool/record-format.ts'
import { openSpool } from '../server/features/hits/spool/spool.ts'
import { openSpoolReader } from '../server/features/hits/spool/spool-reader.ts'
import { extractUtmParameters, parseCampaign } from '../server/features/visitors/campaign.ts'
import { parseReferrer, stripQuery } from '../server/features/visitors/referrer.ts'
import { createDailySalts } from '../server/features/visitors/salts.ts'
import { parseUserAgent } from '../server/features/visitors/user-agent.ts'
import { toVisitorId } from '../server/features/visitors/visitor-id.ts'
import { createGenerationCache } from '../server/lib/generation-cache.ts'
import { createGeoLookup } from '../server/storage/geo.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { FIRST_HIT_AT, recordRawHits } from './raw-hits.ts'

const ROUNDS = 3
const SALT = [{ day: new Date(FIRST_HIT_AT).toISOString().slice(0, 10), salt: '5a'.repeat(32) }]
const OWN_HOSTS = new Set(['go.example'])

type Step = (id: number, raw: RawHit) => void

/** @returns a table of microseconds per hit */
export async function measureCosts(dir: string, hits: number): Promise<string> {
  const spoolDir = join(dir, 'spool')
  const spool = await openSpool({ dir: spoolDir })
  await recordRawHits(spool, hits)
  const { writePosition } = spool
  await spool.close()

  async function readAll(step?: Step): Promise<void> {
    const reader = openSpoolReader(spoolDir, writePosition, { seq: 0, offset: HEADER_BYTES })
    for (let found = await reader.next(); found; found = await reader.next())
      if (step) for (const { id, raw } of found) step(id, raw)
    await reader.close()
  }
  const perHit = async (work: () => Promise<void>) => (await leastCpu(work)) / hits
  const reading = await perHit(() => readAll())
  const added = async (step: () => Step) => Math.max(0, (await perHit(() => readAll(step()))) - reading)

  const files = await perHit(async () => readFiles(spoolDir))
  const checksums = (await perHit(async () => checksum(hits))) || 0
  const parts = steps()
  const rows: [step: string, cost: number][] = [
    ['read the segments', files],
    ['checksums', checksums],
    ['decode', Math.max(0, reading - files - checksums)],
  ]
  for (const [name, step] of Object.entries(parts)) rows.push([name, await added(step)])
  const known = rows.slice(3).reduce((sum, [, cost]) => sum + cost, 0)
  const lines = createLineBuffer(4 * 1024 * 1024)
  const describing = await added(() => describeInto(lines))
  rows.push(['write the line', Math.max(0, describing - known)])
  rows.push(['count by link', await added(countStep)])
  const written = await writeBatch(join(dir, 'batches'), readAll, hits)
  rows.push(['file and its sync (wall)', written.perHit])
  rows.push(['load into DuckDB, one thread (wall)', await load(dir, written.path, hits)])
  return table(rows)
}

/** Each step starts with empty caches, as a batch does. */
const steps = (): Record<string, () => Step> => {
  const agents = createGenerationCache(10_000, parseUserAgent)
  const geo = createGeoLookup()
  const salts = createDailySalts()
  salts.set(SALT)
  return {
    'user agent': () => (_, raw) => agents.get(raw.userAgent),
    place: () => (_, raw) => geo.findPlace(raw.address),
    'visitor hash': () => (_, raw) => toVisitorId(raw, salts.get(raw.at)),
    referrer() {
      const known = createGenerationCache(8192, (url) => parseReferrer(url, OWN_HOSTS))
      return (_, raw) => raw.referrer !== '' && known.get(stripQuery(raw.referrer))
    },
    campaign() {
      const known = createGenerationCache(8192, parseCampaign)
      return (_, raw) => {
        const utm = extractUtmParameters(raw.query, raw.destinationQuery)
        if (utm !== '') known.get(utm)
      }
    },
  }
}

function describer() {
  const salts = createDailySalts()
  salts.set(SALT)
  return createEnricher({
    geo: createGeoLookup(),
    parseUserAgent,
    getSalt: salts.get,
    ownHosts: () => OWN_HOSTS,
  })
}

const kept = describer()

function describeInto(lines: ReturnType<typeof createLineBuffer>): Step {
  kept.clearCaches()
  return (id, raw) => {
    if (lines.end > 2 * 1024 * 1024) lines.end = 0
    kept.enrich(id, raw, lines)
  }
}

function countStep(): Step {
  const counts = new Map()
  return (_, raw) => countClick(counts, 'human', raw)
}

/** @returns the processor time of the fastest round, in microseconds */
async function leastCpu(work: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

function readFiles(dir: string) {
  for (const name of readdirSync(dir)) if (name.endsWith('.seg')) readFileSync(join(dir, name))
}

function checksum(hits: number) {
  const record = Buffer.alloc(280, 0x61)
  for (let i = 0; i < hits; i++) crc32(record.subarray(0, 270 + (i % 8)), i)
}

async function writeBatch(
  dir: string,
  readAll: (step: Step) => Promise<void>,
  hits: number,
): Promise<{ perHit: number; path: string }> {
  mkdirSync(dir, { recursive: true })
  const lines = createLineBuffer(hits * 512)
  const described = describer()
  await readAll((id, raw) => described.enrich(id, raw, lines))
  const start = performance.now()
  const batch = await createBatch({ dir, node: 'bench', isCompressed: false }, 1)
  const chunk = 1024 * 1024
  for (let at = 0; at < lines.end; at += chunk)
    await batch.add(lines.bytes.subarray(at, Math.min(at + chunk, lines.end)), 0)
  const { path } = await batch.finish({ seq: 1, offset: 0 })
  return { perHit: ((performance.now() - start) * 1000) / hits, path }
}

async function load(dir: string, path: string, hits: number): Promise<number> {
  const engine = await openDuckDb({ path: join(dir, 'hits.duckdb'), batchDir: dir })
  let least = Number.POSITIVE_INFINITY
  for (let number = 1; number <= ROUNDS; number++) {
    const start = performance.now()
    await engine.load({ node: 'bench', number, path })
    least = Math.min(least, performance.now() - start)
  }
  await engine.close()
  return (least * 1000) / hits
}

function table(rows: [step: string, cost: number][]): string {
  const worker = rows.slice(0, -1).reduce((sum, [, cost]) => sum + cost, 0)
  return [
    '| step | µs per hit |',
    '|---|---|',
    ...rows.map(([step, cost]) => `| ${step} | ${cost.toFixed(2)} |`),
    `| worker, all but the load | ${worker.toFixed(2)} |`,
  ].join('\n')
}
