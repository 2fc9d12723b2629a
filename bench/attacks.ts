// bun bench/attacks.ts [part of a name] [rounds]: a redirect's p99, and the longest redirect, beside each attack of
// bench/attack-corpus.ts, as a ratio to those alone in the same round. Redirects come at a steady pace; the server has core 0 and all others share core 1. As root,
// the server and whoever measures come before other processes. Rounds by turns, medians. It prints a table for docs/benchmarks.md.

import { createKey } from '../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../server/features/accounts/workspaces/create-workspace.ts'
import { type DatabaseHandle, openDatabase } from '../server/storage/database/open-database.ts'
import { ATTACKS, type AttackTarget, PATTERN_FIELDS } from './attack-corpus.ts'
import { median } from './median.ts'
import { loadAtPace, type PacedResult } from './paced-load.ts'
import { type Contender, pinToCore, seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'
import { formatVerdict } from './verdict.ts'

const ROUNDS = Number(process.argv[3] ?? 5)
const SECONDS = 3
/** An attack is under way before it is measured. */
const LEAD_MS = 1_000
const KEYS = 100
const RATIO_MAX = 3
const MISSES = 1_000
const MISSING_DOMAIN = 'go.missing.example'
const HOUR_MS = 3_600_000

type Seeded = Pick<AttackTarget, 'keys' | 'publicId' | 'missingKey'>

async function seed(): Promise<Seeded> {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  const needs = { db, now: Date.now }
  await seedLinks(db, 1000)
  const keys: string[] = []
  let publicId = ''
  for (let n = 0; n < KEYS; n++) {
    const workspace = await createWorkspace(needs, { name: 'bench', plan: 'enterprise' })
    keys.push((await createKey(needs, workspace.id, 'bench')).key)
    if (n === 0) publicId = workspace.publicId
  }
  const missingId = await seedLinks(db, MISSES, MISSING_DOMAIN)
  await seedMisses(db, missingId)
  const missingKey = (await createKey(needs, missingId, 'bench')).key
  await db.close()
  return { keys, publicId, missingKey }
}

/** The workspace's domain has a thousand links, and people have asked there for a thousand unknown slugs. */
async function seedMisses(db: DatabaseHandle, workspaceId: number): Promise<void> {
  const [domain, at] = [MISSING_DOMAIN, Date.now()]
  const slugs = Array.from({ length: MISSES }, (_, n) => `bench${n}-a-sale-of-chairs-for-the-garden`)
  await db.write(async (connection) => {
    await connection
      .insertInto('domains')
      .values({
        workspace_id: workspaceId,
        domain,
        token: 'bench',
        verified_at: at,
        is_primary: 1,
        case_sensitive: 1,
        created_at: at,
        updated_at: at,
      })
      .execute()
    const seen = { domain, workspace_id: workspaceId, hour: at - (at % HOUR_MS), last_at: at }
    await connection
      .insertInto('misses')
      .values(slugs.map((slug) => ({ ...seen, slug, hits: 2, visitors: 2, bots: 0 })))
      .execute()
  })
}

async function createTarget({ port }: Contender, seeded: Seeded): Promise<AttackTarget> {
  const create = async (path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${seeded.keys[0]}`, 'Content-Type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`, init)
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
    const { data } = (await answer.json()) as { data: { slug: string; formKey: string } }
    return data
  }
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
    ...seeded,
    port,
    formKey: form.formKey,
    patternFormKey: withPatterns.formKey,
    lockedSlug: link.slug,
  }
}

async function measureBeside(name: string, target: AttackTarget): Promise<PacedResult> {
  const script = new URL('attack-corpus.ts', import.meta.url).pathname
  const command = [process.execPath, script, name, JSON.stringify(target)]
  const attack = Bun.spawn(pinToCore(1, command), { stdout: 'ignore', stderr: 'ignore' })
  await Bun.sleep(LEAD_MS)
  const result = await loadAtPace(target.port, SECONDS)
  const isOver = attack.exitCode !== null
  attack.kill('SIGKILL')
  await attack.exited
  if (isOver) throw new Error(`the attack ended by itself: ${name}`)
  return result
}

interface Round {
  alone: PacedResult
  beside: PacedResult
}

function toRow(name: string, rounds: Round[]): string {
  const alone = rounds.map((round) => round.alone.p99Ms)
  const beside = rounds.map((round) => round.beside.p99Ms)
  const longest = (of: 'alone' | 'beside') => median(rounds.map((round) => round[of].maxMs))
  const ratio = median(beside) / median(alone)
  const longestRatio = longest('beside') / longest('alone')
  const cells = [
    name,
    median(alone).toFixed(2),
    median(rounds.map((round) => round.beside.p50Ms)).toFixed(2),
    median(beside).toFixed(2),
    ratio.toFixed(2),
    // Other work on the machine only adds: the quietest rounds tell most of what the attack does.
    (Math.min(...beside) / Math.min(...alone)).toFixed(2),
    longest('alone').toFixed(1),
    longest('beside').toFixed(1),
    longestRatio.toFixed(2),
    rounds.reduce((sum, round) => sum + round.beside.failed, 0),
    formatVerdict(ratio <= RATIO_MAX && longestRatio <= RATIO_MAX),
  ]
  return `| ${cells.join(' | ')} |`
}

const attacks = ATTACKS.filter(({ name }) => name.includes(process.argv[2] ?? ''))
const seeded = await seed()
const server = await startTowpath({ TRUST_PROXY: '127.0.0.1' }, { first: true })
try {
  const target = await createTarget(server, seeded)
  await loadAtPace(server.port, 2)
  const results = new Map<string, Round[]>(attacks.map(({ name }) => [name, []]))
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { name } of attacks) {
      const alone = await loadAtPace(server.port, SECONDS)
      results.get(name)?.push({ alone, beside: await measureBeside(name, target) })
      // What the attack has left behind is not the next one's.
      await Bun.sleep(LEAD_MS)
      process.stderr.write(`round ${round} of ${ROUNDS}: ${name}\n`)
    }
  }
  process.stdout.write(
    [
      '| attack | p99 alone, ms | p50 beside it | p99 beside it | p99 / alone | of the quietest rounds | longest alone | longest beside it | longest / alone | failed | both at most 3 |',
      '|---|---|---|---|---|---|---|---|---|---|---|',
      ...[...results].map(([name, rounds]) => toRow(name, rounds)),
      '',
    ].join('\n'),
  )
} finally {
  await server.end()
}
process.exit(0)
