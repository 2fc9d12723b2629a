// The import of outcomes of leads over the REST API.

import type {
  OutcomeImportInput,
  OutcomeImportResult,
} from '../../../server/features/transfer/outcomes/schema.ts'
import type { Api } from '../client.ts'

export type { OutcomeImportInput, OutcomeImportResult }

/** The server refuses more characters. */
export const OUTCOMES_FILE_MAX = 1_000_000

export const importOutcomeFile = (api: Api, input: OutcomeImportInput) =>
  api.post<OutcomeImportResult>('/outcomes/import', input)
