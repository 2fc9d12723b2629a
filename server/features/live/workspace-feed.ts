// The feed of one workspace, read from the store in steps: new clicks and submissions, and the figures of the last
// 30 minutes. One feed serves all listeners of a workspace on a node.

import { toIso } from '../../lib/iso-time.ts'
import type { RecentClick, RecentClicksQuery } from '../../storage/hits/hit-engine.ts'
import { loadLinkNames } from '../analytics/names.ts'
import type { AnswerContext } from '../analytics/resolve-selection.ts'
import { LIVE_WINDOW_MS, type LiveFigures, readLiveFigures } from './live-figures.ts'
import { type LiveSubmission, listNewSubmissions } from './live-submissions.ts'

/** Of one step, and of the first frame. */
const SHOWN = 50
const CLICKS_MAX = 1000
/** The maximum time between a submission's timestamp and its commit. */
const LATE_MS = 10_000
/** The window moves on even when nothing happens. */
const FIGURES_EVERY_MS = 60_000
const FIGURES_PAUSE_MS = 5_000

export interface WorkspaceFeedNeeds extends AnswerContext {
  hits: AnswerContext['hits'] & {
    countedUntil(): number
    listRecentClicks(query: RecentClicksQuery): Promise<RecentClick[]>
  }
}

interface Activity {
  clicks: object[]
  submissions: object[]
  /** Clicks that the figures count and that are not shown one by one. */
  more: number
}

/** A frame of the stream. */
export interface LiveFrame {
  event: 'activity' | 'figures'
  data: object
}

export interface WorkspaceFeed {
  /** Events since the last step. */
  step(): Promise<LiveFrame[]>
  /** The first message to a new listener: the newest activity, and the last figures. */
  getStart(): LiveFrame[]
}

interface FeedState {
  /** Every click before this moment has been read. */
  countedUntil: number
  /** Of the last 30 minutes, newest first. */
  submissions: LiveSubmission[]
  /** The first data of a new listener. */
  newest: Activity
  figures?: LiveFigures
  figuresAt: number
  isChanged: boolean
}

export function createWorkspaceFeed(needs: WorkspaceFeedNeeds, workspaceId: number): WorkspaceFeed {
  const state: FeedState = {
    countedUntil: needs.now() - LIVE_WINDOW_MS,
    submissions: [],
    newest: { clicks: [], submissions: [], more: 0 },
    figuresAt: Number.NEGATIVE_INFINITY,
    isChanged: false,
  }
  return {
    async step() {
      const frames: LiveFrame[] = []
      const data = await readActivity(needs, workspaceId, state)
      if (data) frames.push({ event: 'activity', data })
      const figures = await readDueFigures(needs, workspaceId, state)
      if (figures) frames.push({ event: 'figures', data: figures })
      return frames
    },
    getStart() {
      const { figures, newest } = state
      const isEmpty = newest.clicks.length + newest.submissions.length === 0
      return [
        ...(figures ? [{ event: 'figures' as const, data: figures }] : []),
        ...(isEmpty ? [] : [{ event: 'activity' as const, data: newest }]),
      ]
    },
  }
}

/** @returns undefined where nothing has happened since the last step */
async function readActivity(
  needs: WorkspaceFeedNeeds,
  workspaceId: number,
  state: FeedState,
): Promise<Activity | undefined> {
  const [clicks, found] = await Promise.all([
    readClicks(needs, workspaceId, state),
    readSubmissions(needs, workspaceId, state),
  ])
  if (clicks.length + found.length === 0) return undefined
  const data = await toActivity(needs, workspaceId, clicks, found)
  state.newest = {
    clicks: [...data.clicks, ...state.newest.clicks].slice(0, SHOWN),
    submissions: [...data.submissions, ...state.newest.submissions].slice(0, SHOWN),
    more: 0,
  }
  state.isChanged = true
  return data
}

/** The answers hold every click before `countedUntil`, so that no click is missing or repeated. */
async function readClicks(
  { hits, now }: WorkspaceFeedNeeds,
  workspaceId: number,
  state: FeedState,
): Promise<RecentClick[]> {
  const end = Math.min(hits.countedUntil(), now())
  if (end <= state.countedUntil) return []
  const start = Math.max(state.countedUntil, end - LIVE_WINDOW_MS)
  const clicks = await hits.listRecentClicks({ workspaceId, start, end, limit: CLICKS_MAX })
  state.countedUntil = end
  return clicks
}

async function readSubmissions(
  { db, now }: WorkspaceFeedNeeds,
  workspaceId: number,
  state: FeedState,
): Promise<LiveSubmission[]> {
  const windowStart = now() - LIVE_WINDOW_MS
  const known = new Set(state.submissions.map(({ id }) => id))
  const since = Math.max((state.submissions[0]?.at ?? windowStart) - LATE_MS, windowStart)
  const found = (await listNewSubmissions(db, workspaceId, since)).filter(({ id }) => !known.has(id))
  state.submissions = [...found, ...state.submissions].filter(({ at }) => at >= windowStart)
  return found
}

async function toActivity(
  needs: WorkspaceFeedNeeds,
  workspaceId: number,
  clicks: RecentClick[],
  found: LiveSubmission[],
): Promise<Activity> {
  const shown = clicks.slice(0, SHOWN)
  const ids = [...shown.map(({ linkId }) => linkId), ...found.flatMap(({ linkId }) => linkId ?? [])]
  const getName = await loadLinkNames(needs, { workspaceId }, [...new Set(ids)])
  const toLink = (id: number | null) => {
    const { slug, domain } = id === null ? { slug: null, domain: null } : getName(id)
    return { linkId: id, slug, domain }
  }
  return {
    clicks: shown.map(({ at, linkId, ...click }) => ({ time: toIso(at), ...toLink(linkId), ...click })),
    submissions: found
      .slice(0, SHOWN)
      .map(({ at, linkId, ...submission }) => ({ time: toIso(at), ...submission, ...toLink(linkId) })),
    more: clicks.length - shown.length,
  }
}

async function readDueFigures(
  needs: WorkspaceFeedNeeds,
  workspaceId: number,
  state: FeedState,
): Promise<LiveFigures | undefined> {
  const age = needs.now() - state.figuresAt
  if (state.figures && age < (state.isChanged ? FIGURES_PAUSE_MS : FIGURES_EVERY_MS)) return undefined
  state.isChanged = false
  state.figuresAt = needs.now()
  state.figures = await readLiveFigures(needs, workspaceId, state.submissions)
  return state.figures
}
