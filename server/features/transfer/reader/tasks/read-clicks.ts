// The task `clicks`: describes the click history of a file, and writes it as hits.

import type { TaskFunction } from '../protocol.ts'

export const readClicks: TaskFunction<'clicks'> = async () => null
