// Links, tags, watched destinations, and the progress of the click counters.

import type { Generated } from 'kysely'

export interface Links {
  id: Generated<number>
  workspace_id: number
  /** '' is the server's default domain, so that links still work after its name has changed. */
  domain: string
  slug: string
  /**
   * The slug for look-ups: NFC, and lower case unless the domain is case-sensitive. Unique with the domain among links that
   * are not permanently deleted. On custom domains, each workspace that has added the name has its own slugs.
   */
  slug_key: string
  destination_url: string
  title: string | null
  comments: string | null
  external_id: string | null
  archived: number
  starts_at: number | null
  expires_at: number | null
  expired_url: string | null
  click_limit: number | null
  /**
   * Human clicks that count for `click_limit`. They are counted before the redirect, so the limit is never exceeded.
   */
  clicks_used: number
  lead_limit: number | null
  /** Argon2id; write-only. */
  password_hash: string | null
  forward_query: number
  track_conversions: number
  geo_targeting: string
  device_targeting: string
  /** The list of redirect rules as JSON. */
  rules: Generated<string>
  /** ignore or append. */
  extra_path: Generated<string>
  /** 1 if the preview page shows the link's clicks. */
  public_stats: Generated<number>
  /** The variants as JSON; null without a split. */
  split: string | null
  /** When the variants were set. */
  split_started_at: number | null
  split_ends_at: number | null
  /** The result of the last split, with its figures, as JSON. */
  split_result: string | null
  redirect_status: number
  /** The social card. If all three are null, unfurlers follow the redirect. */
  preview_title: string | null
  preview_description: string | null
  preview_image: string | null
  /** Includes `clicks_before`, but not the clicks in `link_counters`. */
  clicks: number
  /** Clicks without hits, from before an import: a bare total of another tool. */
  clicks_before: Generated<number>
  leads: number
  /** The time of the newest click in `clicks`. */
  last_clicked_at: number | null
  /** Slug, destination and title in lower case, for `search`. */
  search_text: string
  created_at: number
  updated_at: number
  /** When the link was moved to the trash. Its slug stays taken; its external id is free. */
  deleted_at: number | null
  /** When the link was permanently deleted. Its row stays, so that its clicks have a name. Its slug is free. */
  purged_at: number | null
  /** When the operator suspended it; null while it is not suspended. */
  suspended_at: number | null
  /** Shown to the people who own it. */
  suspended_reason: string | null
}

/** PostgreSQL only: clicks that a job will add to `links` within a minute, and the time of the last of them. */
export interface LinkCounters {
  link_id: number
  workspace_id: number
  clicks: number
  last_clicked_at: number
}

export interface Tags {
  id: Generated<number>
  workspace_id: number
  name: string
  /** The name in lower case; unique in the workspace. */
  name_key: string
  color: string
  /** 1 if the tag is in the sidebar. */
  pinned: Generated<number>
  created_at: number
}

export interface UtmTemplates {
  id: Generated<number>
  workspace_id: number
  name: string
  /** The name in lower case; unique in the workspace. */
  name_key: string
  utm_source: string | null
  utm_medium: string | null
  utm_campaign: string | null
  utm_term: string | null
  utm_content: string | null
  created_at: number
  updated_at: number
}

export interface LinkTags {
  link_id: number
  tag_id: number
  workspace_id: number
}

/** A distinct destination of the live links of a workspace that watches its destinations, and its last check. */
export interface Destinations {
  id: Generated<number>
  workspace_id: number
  url: string
  /** SHA-256 of the URL, because a long URL does not fit into an index of PostgreSQL. */
  url_hash: string
  /** SHA-256 of the URL without its fragment: all rows with this hash share one request a day. */
  request_hash: string
  host: string
  /** The number of live links with it, at the last count. */
  links: number
  /** Index in DESTINATION_STATES. */
  state: number
  /** The HTTP status of the last answer. */
  status: number | null
  message: string | null
  checked_at: number | null
  /** The beginning of this state. Failing, broken and parked begin with the first failure. */
  since: number | null
  /** Failed checks in a row. */
  failures: Generated<number>
  next_check_at: number
  /** When the owners got a mail about this failure; null before it, and again once the destination works. */
  reported_at: number | null
}

/** The last batch of each node that the click counters of the links include. */
export interface ClickMarks {
  node: string
  batch: number
}

/** Visitors of a day who are members of the workspace. */
export interface InternalVisitors {
  workspace_id: number
  /** UTC day, `2026-01-31`. */
  day: string
  /** 53 bits of the visitor's hash. */
  visitor: number
}

export interface VisitorSalts {
  /** UTC day, `2026-01-31`. */
  day: string
  salt: string
}
