// An import in preparation: the chosen files, and the person's choices.

import type {
  DateOrder,
  FileInspection,
  ImportSettings,
  LinkSourceName,
  OnConflict,
} from '../../../api/transfer/imports.ts'

export interface ImportDraft {
  /** '': the tool that the server recognizes. */
  source: LinkSourceName | ''
  file: File | null
  clicks: File | null
  inspection: FileInspection | null
  /** Our field → column, where it differs from the suggestion. '': no column. */
  mapping: Record<string, string>
  /** Host of the file → domain here, where it differs from the suggestion. */
  domainMap: Record<string, string>
  dateOrder: DateOrder | ''
  timeZone: string
  onConflict: OnConflict
  /** The dry run that has tried this draft. */
  dryRunId: number | null
}

/** The settings of one file. */
export const NO_FILE = {
  file: null,
  inspection: null,
  mapping: {},
  domainMap: {},
  dateOrder: '',
  dryRunId: null,
} satisfies Partial<ImportDraft>

export const isZip = ({ name }: File) => /\.zip$/i.test(name)

/** The tool that the file is from, if it is known. */
export const toSource = ({ source, inspection, file }: ImportDraft): LinkSourceName | undefined =>
  source || inspection?.source || (file && isZip(file) ? 'towpath' : undefined)

/** The column of each field of ours. '': the column that is suggested is another one. */
export const toMapping = ({ inspection, mapping }: ImportDraft): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...inspection?.mapping, ...mapping }).filter(
      ([field, column]) => column !== '' || inspection?.mapping[field] !== undefined,
    ),
  )

/** The rest of the request, beside the files. */
export function toImportSettings(draft: ImportDraft): ImportSettings {
  const source = toSource(draft)
  return {
    source,
    onConflict: draft.onConflict,
    domainMap: draft.domainMap,
    mapping: source === 'csv' ? toMapping(draft) : undefined,
    dateOrder: draft.dateOrder || undefined,
    timeZone: draft.timeZone,
  }
}

const EMPTY_DRAFT: ImportDraft = {
  ...NO_FILE,
  source: '',
  clicks: null,
  timeZone: 'UTC',
  onConflict: 'skip',
}

/** Until the page is reloaded, so that a visit to another page loses nothing. */
const drafts = new Map<number, ImportDraft>()

export const getImportDraft = (workspaceId: number) => drafts.get(workspaceId) ?? EMPTY_DRAFT
export const saveImportDraft = (workspaceId: number, draft: ImportDraft) => drafts.set(workspaceId, draft)
export const clearImportDraft = (workspaceId: number) => drafts.delete(workspaceId)
