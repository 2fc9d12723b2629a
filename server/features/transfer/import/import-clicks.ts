// The stage `clicks` of an import: brings the history of its links.

import type { ImportRun } from './import-run.ts'

export async function importClicks(_run: ImportRun): Promise<void> {}
