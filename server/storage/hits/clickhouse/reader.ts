// Answers questions about the hits in ClickHouse.

import type { HitEngine } from '../hit-engine.ts'
import type { ClickHouseClient } from './client.ts'
import { openClickHouseExporter } from './export.ts'
import { createQuestionRunner, QUESTION_SETTINGS } from './query.ts'

export type ClickHouseReader = Pick<
  HitEngine,
  'ask' | 'explain' | 'findLastClicks' | 'findLastClickTimes' | 'export' | 'close'
>

/** @returns a reader whose `close` ends the exports that run, and leaves the client open */
export function openClickHouseReader(
  client: ClickHouseClient,
  { scratchDir, onTrouble }: { scratchDir: string; onTrouble?: () => void },
): ClickHouseReader {
  const exporter = openClickHouseExporter(client, scratchDir)
  return {
    ...createQuestionRunner(client, QUESTION_SETTINGS, onTrouble),
    export: exporter.run,
    close: exporter.close,
  }
}
