// Faults of the hit pipeline, put in by hand: one line of the product changed each. The simulator must find all of them.

import { toMutants } from '../../support/rollups/mutate-source.ts'

const HITS = 'server/features/hits'

export const HIT_MUTANTS = [
  ...toMutants('server/storage/write-durably.ts', [
    [
      'a rename is not synced',
      '  await rename(from, to)\n  await syncToDisk(dirname(to))',
      '  await rename(from, to)',
    ],
    ['a new segment is not synced', '    await write(file)\n    await file.sync()', '    await write(file)'],
  ]),
  ...toMutants(`${HITS}/spool/segment-sync.ts`, [
    ['the live segment is not synced', '    if (live) await syncSegment(live)\n  }', '  }'],
    [
      'a full segment is not synced',
      '      await syncSegment(segment)\n      await segment.close()',
      '      await segment.close()',
    ],
  ]),
  ...toMutants(`${HITS}/spool/claim-directory.ts`, [
    [
      'segments have the numbers of earlier ones',
      'lastSeq: Math.max(...seqs) }',
      'lastSeq: Math.min(...seqs) }',
    ],
    ['what a killed server has left is not synced', '    await syncToDisk(path)\n', ''],
  ]),
  ...toMutants(`${HITS}/spool/record-format.ts`, [
    [
      'a checksum is not looked at',
      'if (bytes.readUInt32LE(at + 4) !== checksum(bytes.subarray(start, end), nonce, base + at)) return null',
      '',
    ],
  ]),
  ...toMutants(`${HITS}/spool/spool-reader.ts`, [
    [
      'the end of the live segment counts for all',
      'segment.seq === live ? liveEnd : segment.bytes',
      'Math.min(liveEnd, segment.bytes)',
    ],
    ['full segments stay', 'if (seq < before.seq) await rm', 'if (seq < 0) await rm'],
    [
      'hits in a batch are not overwritten',
      'writeSync(current.file.fd, Buffer.alloc(length), 0, length, start)',
      '',
    ],
    [
      'too much is overwritten',
      'const length = before.offset - start',
      'const length = before.offset - start + 8',
    ],
  ]),
  ...toMutants(`${HITS}/spool/spool.ts`, [
    ['a segment that two long hits fill has no successor', ' || !hasRoom(live)\n', '\n'],
    ['a spool that had no room at its start waits for a hit', 'if (!spool.live) switchToNext(spool)', ''],
    ['waiting hits are stored and kept', 'waiting.splice(0, stored)', 'waiting.slice(0, stored)'],
    ['a segment takes the number of the next', '      spool.lastSeq = segment.seq\n', ''],
  ]),
  ...toMutants(`${HITS}/batches/batch-file.ts`, [
    [
      'a batch is not synced before the spool forgets its hits',
      '      await file.sync()\n      await file.close()',
      '      await file.close()',
    ],
  ]),
  ...toMutants(`${HITS}/batches/batch-writer.ts`, [
    ['hits of a batch that failed are left out', '    await reader.rewind(durable)\n', ''],
    [
      'the spool forgets hits before their batch is there',
      '    finished = await batch.finish(end)',
      '    await needs.reader.eraseBefore(end)\n    finished = await batch.finish(end)',
    ],
  ]),
  ...toMutants(`${HITS}/batches/batch-retention.ts`, [
    [
      'batches go that are not counted',
      'Math.min(state.mark, state.counted)',
      'Math.max(state.mark, state.counted)',
    ],
  ]),
  ...toMutants(`${HITS}/worker/prune-batches.ts`, [
    [
      'batches go without a backup of the engine',
      '|| !(await engine.use((open) => copyEngine(open, settings)))',
      '',
    ],
  ]),
  ...toMutants(`${HITS}/worker/open-worker.ts`, [
    [
      'a batch is counted twice: it is read from the spool again',
      'const end = batches.at(-1)?.end',
      'const end = batches.at(-2)?.end',
    ],
    [
      'numbers of batches begin anew',
      'worker.lastNumber = Math.max(worker.lastNumber,',
      'worker.lastNumber = Math.min(worker.lastNumber,',
    ],
  ]),
  ...toMutants(`${HITS}/worker/load-batches.ts`, [['the mark stays', '      mark = batch.number\n', '']]),
  ...toMutants(`${HITS}/worker/click-count-sender.ts`, [
    ['the next counts are not sent', '      sending = false\n      void sendNext()', '      void sendNext()'],
    [
      'counts of a batch are left out',
      'batches.find(({ number }) => number > counted)',
      'batches.findLast(({ number }) => number > counted)',
    ],
  ]),
  ...toMutants(`${HITS}/worker/click-count-receiver.ts`, [
    [
      'counts that could not be stored are left out',
      '        settle(true)\n        await Bun.sleep',
      '        return settle(true)\n        await Bun.sleep',
    ],
  ]),
]
