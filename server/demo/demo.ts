// `towpath demo`: a workspace as a small company would have it after a month. Rows are written here; clicks are handed
// to whichever process owns the hits, and counted there as all others are.

import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { deleteWorkspace } from '../features/accounts/workspaces.ts'
import { clickIds } from '../features/hits/click-id.ts'
import { type HandOver, openHandOver } from '../features/hits/incoming.ts'
import { nodeName } from '../features/hits/node-name.ts'
import { HEADER_BYTES, hitId } from '../features/hits/spool-format.ts'
import type { Site } from '../features/links/link.ts'
import { reservedSlugs } from '../features/links/slug.ts'
import type { Plan } from '../lib/plan.ts'
import { randomToken } from '../lib/random.ts'
import { whileNoServerRuns } from '../storage/lock.ts'
import type { Rows } from '../storage/rows/open.ts'
import { type Clicks, DAYS, type DemoHit, makeClicks } from './clicks.ts'
import { COMPANY, FORM_NAMES } from './company.ts'
import { seeded } from './dice.ts'
import { type DemoAttempts, type DemoLead, makeAttempts, makeLeads } from './leads.ts'
import { linesOf } from './lines.ts'
import { LINKS } from './links.ts'
import { findOwner, type Owner } from './owner.ts'
import type { Progress } from './progress.ts'
import { type Stored, storeDemo } from './store.ts'

/** Of the server's settings. */
export interface DemoConfig {
  dataDir: string
  origin: string
  secret: string
  defaultPlan: Plan
  snippetPath: string
  intakePath: string
}

export interface DemoNeeds {
  rows: Rows
  config: DemoConfig
  progress: Progress
  /** Ends it early, leaving nothing behind. */
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
const TAKEN_WITHIN_MS = 15_000
const LOOK_EVERY_MS = 100

/** What part of the time is over when it begins. */
const STAGES = { clicks: 0, rows: 0.2, lines: 0.35, counting: 0.7 }

/** @returns what to tell the operator */
export async function runDemo(needs: DemoNeeds, options: DemoOptions): Promise<string> {
  const { rows, config, progress, signal } = needs
  const count = options.clicks ?? CLICKS
  const leadCount = options.leads ?? LEADS
  const now = Date.now()
  const owner = await findOwner({ rows, now: Date.now }, options.for)
  const node = await nodeName(config.dataDir)
  const clicks = await invent(needs, count, now)
  const leads = makeLeads(seeded(SEED + 1), clicks, now, leadCount)
  const attempts = makeAttempts(seeded(SEED + 2), leads, now)
  signal.throwIfAborted()
  const { handOver, stored } = await keep(needs, { owner, node, now, leads, attempts, hits: clicks.hits })
  const counted = await waitUntilTaken(needs, handOver)
  progress.end()
  return told(config, owner, stored, { clicks: count, leads: leadCount, counted })
}

/** The clicks, in order, each with an id. */
async function invent({ progress, signal }: DemoNeeds, count: number, now: number): Promise<Clicks> {
  const making = makeClicks(seeded(SEED), count, now)
  let step = making.next()
  while (!step.done) {
    progress.at(STAGES.clicks + step.value * (STAGES.rows - STAGES.clicks), 'making up clicks')
    // A signal to stop is heard now.
    await setImmediate()
    signal.throwIfAborted()
    step = making.next()
  }
  const first = firstId()
  for (const [index, hit] of step.value.hits.entries()) hit.id = first + index
  return step.value
}

/**
 * Places in segments that no spool comes to (the 2^29th would begin after 8 PB of hits), other ones each time: an id is
 * a click's name for good.
 */
const firstId = () => hitId(2 ** 29 + randomInt(2 ** 29), HEADER_BYTES)

interface Invented {
  owner: Owner
  node: string
  now: number
  leads: DemoLead[]
  attempts: DemoAttempts[]
  hits: DemoHit[]
}

/** All hits are handed over, or none. Where it fails, or somebody stops it, nothing stays. */
async function keep(needs: DemoNeeds, { owner, node, now, leads, attempts, hits }: Invented) {
  const { rows, config, progress, signal } = needs
  const site = siteOf(config)
  const ids = clickIds(config.secret, node)
  let stored: Stored | undefined
  const handOver = await openHandOver(config.dataDir, `demo-${Date.now().toString(36)}-${randomToken(4)}`)
  try {
    progress.at(STAGES.rows, 'storing links and leads')
    const storing = { rows, site, clickIds: ids, node, plan: config.defaultPlan, now }
    stored = await storeDemo(storing, owner, leads, attempts)
    for (let from = 0; from < hits.length; from += HITS_PER_FILE) {
      const part = STAGES.lines + (from / hits.length) * (STAGES.counting - STAGES.lines)
      progress.at(part, 'writing clicks')
      signal.throwIfAborted()
      await handOver.add(linesOf(hits.slice(from, from + HITS_PER_FILE), stored))
    }
    signal.throwIfAborted()
    await handOver.finish()
    return { handOver, stored }
  } catch (error) {
    await handOver.discard()
    if (stored) await deleteWorkspace({ rows, now: Date.now }, stored.workspaceId)
    throw error
  }
}

type Counted = 'now' | 'soon' | 'later'

async function waitUntilTaken({ config, progress, signal }: DemoNeeds, handOver: HandOver): Promise<Counted> {
  const began = performance.now()
  if ((await whileNoServerRuns(config.dataDir, async () => true)) === true) return 'later'
  for (;;) {
    if (await handOver.isTaken()) return 'now'
    const passed = (performance.now() - began) / TAKEN_WITHIN_MS
    if (passed > 1 || signal.aborted) return 'soon'
    progress.at(STAGES.counting + passed * (1 - STAGES.counting), 'the server counts them')
    await Bun.sleep(LOOK_EVERY_MS)
  }
}

const COUNTED: Record<Counted, string> = {
  now: 'The clicks are in the analytics and on the links, the last of them within a few seconds.',
  soon: 'The server is still counting the clicks; it goes on by itself.',
  later: 'No server runs here now: the next one counts the clicks when it starts (npm start).',
}

function siteOf({ origin, snippetPath, intakePath }: DemoConfig): Site {
  const { host } = new URL(origin)
  return {
    origin,
    domain: host,
    ownHosts: [host],
    schemes: [],
    reserved: reservedSlugs([snippetPath, intakePath]),
  }
}

function told(
  { origin }: DemoConfig,
  owner: Owner,
  { workspaceId }: Stored,
  { clicks, leads, counted }: { clicks: number; leads: number; counted: Counted },
): string {
  const number = (n: number) => n.toLocaleString('en')
  const signIn =
    owner.password === undefined
      ? `  Sign in   as ${owner.email}, with your own password`
      : `  Sign in   ${owner.email}\n  Password  ${owner.password}   (shown only now)`
  return [
    `${COMPANY} is workspace ${workspaceId}: ${DAYS} days, ${LINKS.length} links, ${FORM_NAMES.length} forms, ` +
      `${number(clicks)} clicks, ${number(leads)} leads.`,
    '',
    `  Open      ${origin}/app`,
    signIn,
    '',
    COUNTED[counted],
    `To remove it all: npm run -s towpath -- workspace delete ${workspaceId} --yes`,
  ].join('\n')
}
