// The columns that a request changes. Absent fields stay as they are, and `null` sets the value of a new view.

import { hashPassword } from '../../lib/crypto/password.ts'
import { randomToken } from '../../lib/crypto/random.ts'
import { invalid } from '../../lib/failure.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { channelsExist } from '../notify/channels/use-for-forms.ts'
import { findNextCheck } from './alert-schedule.ts'
import { findNextDue } from './report-schedule.ts'
import type { AlertSettings, ReportSettings, UpdateViewInput } from './schema.ts'
import { toViewSettings, type ViewRow } from './view.ts'
import { findFilterProblems, toViewSelection, type ViewSelection } from './view-selection.ts'

/** 128 bits: 22 characters. */
const TOKEN_BYTES = 16

export const NEW_VIEW = {
  filters: '{}',
  interval_name: '30d',
  range_start: null,
  range_end: null,
  timezone: 'UTC',
  model: 'last',
  share_token: null,
  share_password_hash: null,
  share_expires_at: null,
  share_leads_shown: 0,
  embed: '[]',
  report: null,
  report_due_at: null,
  alert: null,
  alert_due_at: null,
  alert_links_until: null,
} as const satisfies Partial<ViewRow>

export type ViewColumns = Pick<ViewRow, keyof typeof NEW_VIEW>

/** Before the transaction, because it takes 50 ms. */
export const hashSharePassword = ({ share }: UpdateViewInput) => hashPassword(share?.password, 'links')

/**
 * @param options.passwordHash from `hashSharePassword`
 * @throws Failure `invalid` for a wrong filter, and for a range that cannot be
 */
export function toViewColumns(
  current: ViewColumns,
  input: UpdateViewInput,
  { passwordHash, now }: { passwordHash: string | null | undefined; now: number },
): ViewColumns {
  const orNew = <T>(value: T | null | undefined, stored: T, fresh: T): T =>
    value === undefined ? stored : (value ?? fresh)
  const timezone = orNew<string>(input.timezone, current.timezone, NEW_VIEW.timezone)
  const columns = {
    filters: input.filters === undefined ? current.filters : JSON.stringify(input.filters ?? {}),
    ...toRangeColumns(current, input),
    timezone,
    model: orNew<string>(input.model, current.model, NEW_VIEW.model),
    ...toShareColumns(current, input, passwordHash),
    embed: input.embed === undefined ? current.embed : JSON.stringify([...new Set(input.embed ?? [])]),
    ...toReportColumns(current, input, { timezone, now }),
    ...toAlertColumns(current, input, { timezone, now }),
  }
  const problems = Object.entries(findFilterProblems(JSON.parse(columns.filters)))
  if (problems.length > 0)
    throw invalid(Object.fromEntries(problems.map(([name, message]) => [`filters.${name}`, message])))
  requireAlertMetric(columns, toViewSelection(toViewSettings(columns as ViewRow)))
  return columns
}

/** An interval replaces a start and an end, and the other way around. Analytics refuses both in one request. */
function toRangeColumns(current: ViewColumns, { interval, start, end }: UpdateViewInput) {
  const range_start = start === undefined && !interval ? current.range_start : (start ?? null)
  const range_end = end === undefined && !interval ? current.range_end : (end ?? null)
  if (interval) return { interval_name: interval, range_start, range_end }
  const isOpen = range_start === null && range_end === null
  const stored = interval === null ? null : current.interval_name
  return { interval_name: isOpen ? (stored ?? NEW_VIEW.interval_name) : null, range_start, range_end }
}

/** A change of other settings leaves a report that is due alone. */
function toReportColumns(
  current: ViewColumns,
  { report, timezone: changed }: UpdateViewInput,
  { timezone, now }: { timezone: string; now: number },
): Pick<ViewColumns, 'report' | 'report_due_at'> {
  if (report === undefined && changed === undefined)
    return { report: current.report, report_due_at: current.report_due_at }
  const stored: ReportSettings | null =
    report === undefined ? JSON.parse(current.report ?? 'null') : report && withUniqueChannels(report)
  if (stored === null) return { report: null, report_due_at: null }
  return { report: JSON.stringify(stored), report_due_at: findNextDue(stored, timezone, now) }
}

function toAlertColumns(
  current: ViewColumns,
  { alert }: UpdateViewInput,
  { timezone, now }: { timezone: string; now: number },
): Pick<ViewColumns, 'alert' | 'alert_due_at' | 'alert_links_until'> {
  if (alert === undefined) {
    const { alert, alert_due_at, alert_links_until } = current
    return { alert, alert_due_at, alert_links_until }
  }
  if (alert === null) return { alert: null, alert_due_at: null, alert_links_until: null }
  return {
    alert: JSON.stringify(withUniqueChannels(alert)),
    alert_due_at: findNextCheck(timezone, now),
    alert_links_until: now,
  }
}

/** @throws Failure `invalid` where the filters leave out what the alert counts */
function requireAlertMetric({ alert }: ViewColumns, { clicks, leads }: ViewSelection): void {
  const settings: AlertSettings | null = JSON.parse(alert ?? 'null')
  if (settings === null || (settings.metric === 'leads' ? leads : clicks)) return
  const field = settings.metric ? 'alert.metric' : 'alert.when'
  throw invalid({ [field]: 'is not counted with the filters of this view' })
}

const withUniqueChannels = <T extends { channelIds: number[] }>(settings: T): T => ({
  ...settings,
  channelIds: [...new Set(settings.channelIds)],
})

function toShareColumns(
  current: ViewColumns,
  { share }: UpdateViewInput,
  passwordHash: string | null | undefined,
): Pick<ViewColumns, 'share_token' | 'share_password_hash' | 'share_expires_at' | 'share_leads_shown'> {
  const { share_token, share_password_hash, share_expires_at, share_leads_shown } =
    share === null ? NEW_VIEW : current
  if (!share) return { share_token, share_password_hash, share_expires_at, share_leads_shown }
  const { expiresAt, showLeads } = share
  return {
    share_token: share_token ?? randomToken(TOKEN_BYTES),
    share_password_hash: passwordHash === undefined ? share_password_hash : passwordHash,
    share_expires_at:
      expiresAt === undefined ? share_expires_at : expiresAt === null ? null : Date.parse(expiresAt),
    share_leads_shown: showLeads === undefined ? share_leads_shown : Number(showLeads ?? false),
  }
}

/** @throws Failure `invalid` where a report or an alert names a channel that is not one of the workspace */
export async function requireViewChannels(
  connection: Connection,
  actor: Actor,
  { report, alert }: UpdateViewInput,
): Promise<void> {
  for (const [name, settings] of Object.entries({ report, alert }))
    if (!(await channelsExist(connection, actor, settings?.channelIds ?? [])))
      throw invalid({ [`${name}.channelIds`]: 'must be channels of this workspace' })
}
