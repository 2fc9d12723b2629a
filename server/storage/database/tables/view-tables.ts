// Saved views of analytics.

import type { Generated } from 'kysely'

export interface Views {
  id: Generated<number>
  workspace_id: number
  /** The person who made it; null for an API key, and once the account is gone. */
  user_id: number | null
  name: string
  /** JSON: the filters of analytics, as a caller writes them. */
  filters: string
  /** Null where the range has a start or an end. */
  interval_name: string | null
  /** As the caller wrote it: a date is one of `timezone`. */
  range_start: string | null
  range_end: string | null
  timezone: string
  model: string
  /** The last part of the address of its shared page; null where it has none. */
  share_token: string | null
  share_password_hash: string | null
  share_expires_at: number | null
  share_leads_shown: Generated<number>
  /** A JSON list of the origins that may frame the shared page. */
  embed: Generated<string>
  /** JSON of `ReportSettings`; null without reports. */
  report: string | null
  /** When the next report is due. */
  report_due_at: number | null
  /** JSON of `AlertSettings`; null without an alert. */
  alert: string | null
  /** When the alert is checked next. */
  alert_due_at: number | null
  /** For an alert about new links: the first hours of links that ended up to then have been checked. */
  alert_links_until: number | null
  created_at: number
  updated_at: number
}

/** One report of a view. No period has two, however many nodes run. */
export interface ViewReports {
  id: Generated<number>
  workspace_id: number
  view_id: number
  /** The first moment of the period. */
  period_start: number
  /** JSON of `ReportContent`. */
  content: string
  created_at: number
}

/** One alert of a view. No hours are told twice, however many nodes run. */
export interface ViewAlerts {
  id: Generated<number>
  workspace_id: number
  view_id: number
  /** The end of the hours that it is about. */
  window_end: number
  created_at: number
}
