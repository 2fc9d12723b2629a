// Imports: what people bring from other tools, what became of each row, and which clicks came with it.

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
  /** The current stage: `check`, `links`, `clicks`, and `undo` after it has ended. */
  stage: string
  dry_run: number
  /** `skip`, `rename` or `fail`. */
  on_conflict: string
  /** JSON: `ImportOptions`. */
  options: string
  file_name: string | null
  file_bytes: number
  /** The name of the second file, the click history; null where there is none. */
  clicks_file_name: string | null
  clicks_file_bytes: number | null
  rows: Generated<number>
  /** With `renamed`. */
  created: Generated<number>
  renamed: Generated<number>
  skipped: Generated<number>
  failed: Generated<number>
  clicks: Generated<number>
  /** How many chunks of the click history are stored: see features/transfer/history/. */
  chunks: Generated<number>
  /** The first click that it has brought; null where it has none. Analytics of all time begin there. */
  first_at: Generated<number | null>
  /** How many rows the stage has in all; null while nobody knows. */
  total: number | null
  /** How many rows of the stage are done: a restarted server goes on there. */
  position: Generated<number>
  /** A JSON list of sentences for the person who imports, such as slugs that differ in case only. */
  notices: Generated<string>
  /** Why the import failed, as a sentence. */
  problem: string | null
  /** Who has asked, for the audit log: JSON. */
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
  /** `created`, `renamed`, `skipped`, `failed`, or `kept` for what an undo has left. */
  outcome: string
  /** Its name for people: the short link, or the name. */
  name: string | null
  item_id: number | null
  /** `updated_at` of the item when the import had made it: later changes by people show. */
  item_updated_at: number | null
  /** The first error of a row, or why a row was skipped or renamed. */
  field: string | null
  value: string | null
  message: string | null
}

/** The link that a tool's own link has become. Kept as long as the link, so that no later import makes a second one. */
export interface ImportKeys {
  workspace_id: number
  source: string
  /** The tool's id of the link, else its short URL. */
  source_key: string
  link_id: number
  import_id: number
}

/**
 * The click history that an import has brought, by link and UTC day. A later import of the same days adds only what they
 * lack.
 */
export interface ImportDays {
  import_id: number
  workspace_id: number
  link_id: number
  /** Days since 1970. */
  day: number
  /** Rows of the history, robots too. */
  clicks: number
  /** Those that the link's counter has: clicks of people. */
  counted: number
  /** The newest one of those; 0 without one. */
  last_at: Generated<number>
}

/** A tool's click total of a link. `links.clicks_before` is the part that the history of all imports lacks. */
export interface ImportTotals {
  import_id: number
  workspace_id: number
  link_id: number
  total: number
}

/** Click histories that are erased again: of an import that was undone or canceled. */
export interface ImportErasures {
  import_id: number
  workspace_id: number
  requested_at: number
}

/** The nodes that have done so. Each has files of its own. */
export interface ImportErasureMarks {
  import_id: number
  node: string
  done_at: number
}
