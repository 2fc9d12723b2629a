// Runs `towpath demo`: creates the workspace of a small company after two months. This process writes the rows, and
// passes the clicks to the process that owns the hits, which counts them like all others.

import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { deleteWorkspace } from '../../features/accounts/workspaces/delete-workspace.ts'
import { createHitImport, type HitImport } from '../../features/hits/batches/hit-import.ts'
import { createClickIds } from '../../features/hits/click-id.ts'
import { ensureNodeId } from '../../features/hits/spool/node-id.ts'
import { HEADER_BYTES, toHitId } from '../../features/hits/spool/record-format.ts'
import { randomToken } from '../../lib/crypto/random.ts'
import type { Plan } from '../../lib/plan.ts'
import { createRandom } from '../../lib/seeded-random.ts'
import { createSite, type SiteSettings } from '../../start/site.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { runWhileNoServer } from '../../storage/lock.ts'
import type { ProgressBar } from '../progress-bar.ts'
import { DEMO_DAYS, type DemoClicks, type DemoHit, generateClicks } from './clicks.ts'
import { COMPANY, FORM_NAMES } from './company.ts'
import { type DemoOwner, findOwner } from './find-owner.ts'
import { type DemoAttempts, type DemoLead, generateAttempts, generateLeads } from './leads.ts'
import { DEMO_LINKS } from './links.ts'
import { type StoredDemo, storeDemo } from './store-demo.ts'

/** The settings of the server that the demo needs. */
export interface DemoConfig extends SiteSettings {
  dataDir: string
  secret: string
  defaultPlan: Plan
}

export interface DemoNeeds {
  db: Database
  config: DemoConfig
  progress: ProgressBar
  /** Stops the command, which then leaves nothing behind. */
  signal: AbortSignal
}

export interface DemoOptions {
  for?: string
  clicks?: number
  leads?: number
}

const SEED = 20_260
const CLICKS = 100_000
const LEADS = 300
const HITS_PER_FILE = 25_000
const IMPORTED_WITHIN_MS = 15_000
const POLL_MS = 100

/** How much of the whole time has passed when each stage starts, from 0 to 1. */
const STAGES = { clicks: 0, rows: 0.2, lines: 0.35, counting: 0.7 }

/** @returns the report for the operator */
export async function runDemo(needs: DemoNeeds, options: DemoOptions): Promise<string> {
  const { db, config, progress, signal } = needs
  const count = options.clicks ?? CLICKS
  const leadCount = options.leads ?? LEADS
  const now = Date.now()
  const owner = await findOwner({ db, now: Date.now }, options.for)
  const node = await ensureNodeId(config.dataDir)
  const clicks = await generateDemoClicks(needs, count, now)
  const leads = generateLeads(createRandom(SEED + 1), clicks, now, leadCount)
  const attempts = generateAttempts(createRandom(SEED + 2), leads, now)
  signal.throwIfAborted()
  const { handOver, stored } = await storeAndHandOver(needs, {
    owner,
    node,
    now,
    leads,
    attempts,
    hits: clicks.hits,
  })
  const counted = await waitUntilImported(needs, handOver)
  progress.end()
  return formatReport(config, owner, stored, { clicks: count, leads: leadCount, counted })
}

/** @returns the hits in the order of time, each with an id */
async function generateDemoClicks(
  { progress, signal }: DemoNeeds,
  count: number,
  now: number,
): Promise<DemoClicks> {
  const generator = generateClicks(createRandom(SEED), count, now)
  let step = generator.next()
  while (!step.done) {
    progress.at(STAGES.clicks + step.value * (STAGES.rows - STAGES.clicks), 'making up clicks')
    // Lets the process receive a signal to stop.
    await setImmediate()
    signal.throwIfAborted()
    step = generator.next()
  }
  const first = createFirstId()
  for (const [index, hit] of step.value.hits.entries()) hit.id = first + index
  return step.value
}

/**
 * Ids of segments that no spool reaches: segment 2^29 would start after 8 PB of hits. They are random, because an id must
 * name one click only, also when the demo runs twice.
 */
const createFirstId = () => toHitId(2 ** 29 + randomInt(2 ** 29), HEADER_BYTES)

interface DemoData {
  owner: DemoOwner
  node: string
  now: number
  leads: DemoLead[]
  attempts: DemoAttempts[]
  hits: DemoHit[]
}

/** Hands over all hits or none. After a failure or a stop, nothing stays. */
async function storeAndHandOver(needs: DemoNeeds, { owner, node, now, leads, attempts, hits }: DemoData) {
  const { db, config, progress, signal } = needs
  const site = createSite(config)
  const clickIds = createClickIds(config.secret, node)
  let stored: StoredDemo | undefined
  const handOver = await createHitImport(config.dataDir, `demo-${Date.now().toString(36)}-${randomToken(4)}`)
  try {
    progress.at(STAGES.rows, 'storing links and leads')
    const storeNeeds = { db, site, clickIds, node, plan: config.defaultPlan, now }
    stored = await storeDemo(storeNeeds, owner, leads, attempts)
    for (let from = 0; from < hits.length; from += HITS_PER_FILE) {
      const done = STAGES.lines + (from / hits.length) * (STAGES.counting - STAGES.lines)
      progress.at(done, 'writing clicks')
      signal.throwIfAborted()
      await handOver.add(toBatchLines(hits.slice(from, from + HITS_PER_FILE), stored))
    }
    signal.throwIfAborted()
    await handOver.finish()
    return { handOver, stored }
  } catch (error) {
    await handOver.discard()
    if (stored) await deleteWorkspace({ db, now: Date.now }, stored.workspaceId)
    throw error
  }
}

/** Writes the hits of the demo as lines of a batch, in the same form as the hit worker. */
function toBatchLines(hits: DemoHit[], { workspaceId, linkIds }: StoredDemo): string {
  let lines = ''
  for (const hit of hits) {
    const { id, at, outcome, class: hitClass, trigger, person } = hit
    const { device, browser, os } = person.agent
    const { variant = null } = hit
    const dimensions = { ...person.place, device, browser, os, ...hit.referrer, ...hit.campaign, variant }
    const linkId = linkIds[hit.link] ?? 0
    lines += `{"id":${id},"at":${at},"workspaceId":${workspaceId},"linkId":${linkId},"outcome":"${outcome}","class":"${hitClass}","trigger":"${trigger}","visitor":"${person.visitor}"`
    for (const [name, value] of Object.entries(dimensions)) {
      if (value !== null) lines += `,"${name}":${JSON.stringify(value)}`
    }
    lines += '}\n'
  }
  return lines
}

type CountingState = 'now' | 'soon' | 'later'

async function waitUntilImported(
  { config, progress, signal }: DemoNeeds,
  handOver: HitImport,
): Promise<CountingState> {
  const startedAt = performance.now()
  if ((await runWhileNoServer(config.dataDir, async () => true)) === true) return 'later'
  for (;;) {
    if (await handOver.isImported()) return 'now'
    const passed = (performance.now() - startedAt) / IMPORTED_WITHIN_MS
    if (passed > 1 || signal.aborted) return 'soon'
    progress.at(STAGES.counting + passed * (1 - STAGES.counting), 'the server counts them')
    await Bun.sleep(POLL_MS)
  }
}

const COUNTED: Record<CountingState, string> = {
  now: 'The clicks are in the analytics and on the links, the last of them within a few seconds.',
  soon: 'The server is still counting the clicks; it goes on by itself.',
  later: 'No server runs here now: the next one counts the clicks when it starts (npm start).',
}

function formatReport(
  { origin }: DemoConfig,
  owner: DemoOwner,
  { workspaceId }: StoredDemo,
  { clicks, leads, counted }: { clicks: number; leads: number; counted: CountingState },
): string {
  const number = (n: number) => n.toLocaleString('en')
  const signIn =
    owner.password === undefined
      ? `  Sign in   as ${owner.email}, with your own password`
      : `  Sign in   ${owner.email}\n  Password  ${owner.password}   (shown only now)`
  return [
    `${COMPANY} is workspace ${workspaceId}: ${DEMO_DAYS} days, ${DEMO_LINKS.length} links, ${FORM_NAMES.length} forms, ` +
      `${number(clicks)} clicks, ${number(leads)} leads.`,
    '',
    `  Open      ${origin}/app`,
    signIn,
    '',
    COUNTED[counted],
    `To remove it all: npx towpath workspace delete ${workspaceId} --yes`,
  ].join('\n')
}
