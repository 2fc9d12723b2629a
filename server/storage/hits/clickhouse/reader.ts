// Answers questions about the hits in ClickHouse.

import type { HitEngine } from '../hit-engine.ts'
import type { ClickHouseClient } from './client.ts'
import { openClickHouseExporter } from './export.ts'
import { createQuestionRunner } from './query.ts'

export type ClickHouseReader = Pick<
  HitEngine,
  | 'ask'
  | 'explain'
  | 'findLastClicks'
  | 'findLastClickTimes'
  | 'readClicks'
  | 'listRecentClicks'
  | 'export'
  | 'close'
>

/** @returns a reader whose `close` ends the exports that run, and leaves the client open */
export function openClickHouseReader(client: ClickHouseClient, scratchDir: string): ClickHouseReader {
  const exporter = openClickHouseExporter(client, scratchDir)
  return {
    ...createQuestionRunner(client),
    export: exporter.run,
    close: exporter.close,
  }
}
