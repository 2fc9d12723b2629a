// Imports from other tools: the result of each row, and the imported clicks.

import type { Generated } from 'kysely'

export interface Imports {
  id: Generated<number>
  workspace_id: number
  /** The node that has the files: it runs the import. */
  node: string
  /** The tool, as in `IMPORT_SOURCES`. */
  source: string
  /** `queued`, `running`, `done`, `failed` or `undone`. */
  status: string
  /** The current stage: `check`, `links`, `clicks`; `undo` if a finished import is undone. */
  stage: string
  dry_run: number
  /** `skip`, `rename` or `fail`. */
  on_conflict: string
  /** JSON: `ImportOptions`. */
  options: string
  file_name: string | null
  file_bytes: number
  /** The name of the second file, the click history; null without one. */
  clicks_file_name: string | null
  clicks_file_bytes: number | null
  rows: Generated<number>
  /** Includes `renamed`. */
  created: Generated<number>
  renamed: Generated<number>
  skipped: Generated<number>
  failed: Generated<number>
  clicks: Generated<number>
  /** The number of stored chunks of the click history: see features/transfer/history/. */
  chunks: Generated<number>
  /** The time of its first click; null without clicks. Analytics of all time begin there. */
  first_at: Generated<number | null>
  /** The number of rows of the stage; null while it is unknown. */
  total: number | null
  /** The number of finished rows of the stage. A restarted server continues there. */
  position: Generated<number>
  /** A JSON list of sentences for the person who imports, for example about slugs that differ only in case. */
  notices: Generated<string>
  /** Why the import failed, as a sentence. */
  problem: string | null
  /** JSON of the person or key that requested the import, for the audit log. */
  actor: string
  created_at: number
  started_at: number | null
  finished_at: number | null
  undone_at: number | null
}

/** The outcome of a row of a file. Kept for 30 days: as long as an import can be undone. */
export interface ImportRows {
  id: Generated<number>
  import_id: number
  workspace_id: number
  /** As a spreadsheet numbers it: the header is row 1. In files without a header, the first record is 1. */
  row: number
  /** `link`, `tag`, `form`, `submission`, `channel`, `domain` or `click`. */
  kind: string
  /** `created`, `renamed`, `skipped`, `failed`, or `kept` if an undo has kept the item. */
  outcome: string
  /** The name that people see: the short link, or the name of the item. */
  name: string | null
  item_id: number | null
  /** `updated_at` of the item at its creation by the import. A later value shows a change by people. */
  item_updated_at: number | null
  /** The first error of a row, or the reason why it was skipped or renamed. */
  field: string | null
  value: string | null
  message: string | null
}

/** Maps a tool's link to our link. Kept as long as the link, so that no later import creates a second one. */
export interface ImportKeys {
  workspace_id: number
  source: string
  /** The tool's id of the link, else its short URL. */
  source_key: string
  link_id: number
  import_id: number
}

/**
 * The click history of an import, by link and UTC day. A later import of the same days adds only missing clicks.
 */
export interface ImportDays {
  import_id: number
  workspace_id: number
  link_id: number
  /** Days since 1970. */
  day: number
  /** Rows of the history, including robots. */
  clicks: number
  /** The clicks of people, which the link's counter includes. */
  counted: number
  /** The time of the newest click of a person; 0 without one. */
  last_at: Generated<number>
}

/** A tool's click total of a link. `links.clicks_before` is the part that the history of all imports lacks. */
export interface ImportTotals {
  import_id: number
  workspace_id: number
  link_id: number
  total: number
}

/** Click histories to erase, of undone or canceled imports. */
export interface ImportErasures {
  import_id: number
  workspace_id: number
  requested_at: number
}

/** The nodes that have erased their part. Each has its own files. */
export interface ImportErasureMarks {
  import_id: number
  node: string
  done_at: number
}
