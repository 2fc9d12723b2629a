// Saved views of analytics.

import type { Generated } from 'kysely'

export interface Views {
  id: Generated<number>
  workspace_id: number
  /** The person who created it; null for an API key, and after the deletion of the account. */
  user_id: number | null
  name: string
  /** JSON: the filters of analytics, as the caller wrote them. */
  filters: string
  /** Null if the range has a start or an end. */
  interval_name: string | null
  /** As the caller wrote it. A date is a day in `timezone`. */
  range_start: string | null
  range_end: string | null
  timezone: string
  model: string
  /** The last part of the address of its shared page; null without one. */
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
  /** For an alert about new links: links whose first hours ended before this time have been checked. */
  alert_links_until: number | null
  created_at: number
  updated_at: number
}

/** One report of a view. A period has at most one, with any number of nodes. */
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

/** One alert of a view. No hours are reported twice, with any number of nodes. */
export interface ViewAlerts {
  id: Generated<number>
  workspace_id: number
  view_id: number
  /** The end of its hours. */
  window_end: number
  created_at: number
}
