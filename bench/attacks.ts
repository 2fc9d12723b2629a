// Measures redirects beside each attack of bench/attack-corpus.ts, and alone just before: bun bench/attacks.ts
// [part of a name] [--rounds=5] [--seconds=3]. The server has core 0, and all others share core 1. As root, the server and
// the load generator come before other processes.

import { join } from 'node:path'
import type { DatabaseHandle } from '../server/storage/database/open-database.ts'
import { ATTACKS, type AttackTarget, PATTERN_FIELDS } from './attack-corpus.ts'
import {
  addRows,
  type BesideRound,
  type Contender,
  callApi,
  finish,
  formatVerdict,
  loadAtPace,
  loadBeside,
  note,
  readOptions,
  runRounds,
  seed,
  seedDomain,
  seedLinks,
  spawnOn,
  startTowpath,
  summarizeBeside,
  toTable,
  type Workspace,
} from './harness.ts'

const { words, ...options } = readOptions({ rounds: 5, seconds: 3 })
const KEYS = 100
const RATIO_MAX = 3
const MISSES = 1_000
const MISSING_DOMAIN = 'go.missing.example'
const HOUR_MS = 3_600_000

const seeded: Workspace[] = []
let missingKey = ''

/** The workspace's domain has a thousand links, and people have asked there for a thousand unknown slugs. */
async function seedMisses(db: DatabaseHandle, workspaceId: number): Promise<void> {
  await seedLinks(db, workspaceId, MISSES, MISSING_DOMAIN)
  await seedDomain(db, workspaceId, MISSING_DOMAIN)
  const at = Date.now()
  const seen = { domain: MISSING_DOMAIN, workspace_id: workspaceId, hour: at - (at % HOUR_MS), last_at: at }
  await addRows(db, 'misses', MISSES, (n) => ({
    ...seen,
    slug: `bench${n}-a-sale-of-chairs-for-the-garden`,
    hits: 2,
    visitors: 2,
    bots: 0,
  }))
}

async function createTarget(server: Contender): Promise<AttackTarget> {
  const [first] = seeded as [Workspace]
  const create = (path: string, body: object) =>
    callApi<{ slug: string; formKey: string }>(server, first.key, path, body)
  const link = await create('/links', { destinationUrl: 'https://example.com/', password: 'secret words' })
  const form = await create('/forms', { name: 'Contact' })
  // The slowest that a form may have: classes of Unicode in some fields, and letters in both cases in the others.
  const rules = Object.fromEntries(
    PATTERN_FIELDS.map((name, n) => [
      name,
      { pattern: n < 20 ? `${'\\p{L}?'.repeat(24)}x${n}` : `(?i)${'k'.repeat(200)}${n}` },
    ]),
  )
  const withPatterns = await create('/forms', { name: 'Patterns', rules })
  return {
    port: server.port,
    keys: seeded.map(({ key }) => key),
    publicId: first.publicId,
    missingKey,
    formKey: form.formKey,
    patternFormKey: withPatterns.formKey,
    lockedSlug: link.slug,
  }
}

function measureBeside(name: string, target: AttackTarget): Promise<BesideRound> {
  const script = join(import.meta.dir, 'attack-corpus.ts')
  return loadBeside(target.port, options.seconds, () => {
    const attack = spawnOn(1, [script, name, JSON.stringify(target)])
    const stop = () => {
      if (attack.exitCode !== null) throw new Error(`the attack ended by itself: ${name}`)
      attack.kill('SIGKILL')
    }
    return { ended: attack.exited, stop }
  })
}

function toRow(name: string, rounds: BesideRound[]): (string | number)[] {
  const { p50, p99, max, failed } = summarizeBeside(rounds)
  const times = [p99.alone, p50.beside, p99.beside, p99.ratio, max.alone, max.beside, max.ratio]
  const verdict = formatVerdict(p99.ratio <= RATIO_MAX && max.ratio <= RATIO_MAX)
  return [name, ...times.map((time) => time.toFixed(2)), failed, verdict]
}

const attacks = Object.keys(ATTACKS).filter((name) => name.includes(words[0] ?? ''))
await seed({}, async (db, _first, addWorkspace) => {
  for (let n = 0; n < KEYS; n++) seeded.push(await addWorkspace())
  const missing = await addWorkspace()
  missingKey = missing.key
  await seedMisses(db, missing.workspaceId)
})
const server = await startTowpath({ TRUST_PROXY: '127.0.0.1' }, { first: true })
const target = await createTarget(server)
await loadAtPace(server.port, 2)
const runs = attacks.map((name) => async () => {
  const result = await measureBeside(name, target)
  note(name)
  // What the attack has left behind is not the next one's.
  await Bun.sleep(1_000)
  return result
})
const results = await runRounds(options.rounds, runs)
const header = ['attack', 'p99 alone, ms', 'p50 beside it', 'p99 beside it', 'p99 / alone', 'longest alone']
finish(
  toTable(
    [...header, 'longest beside it', 'longest / alone', 'failed', `both at most ${RATIO_MAX}`],
    results.map((rounds, n) => toRow(attacks[n] ?? '', rounds)),
  ),
)
