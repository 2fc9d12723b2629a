// The tasks `checkSubmissions` and `submissions`: read the export of another form service. They read the country from IP
// addresses and drop the addresses.

import { createSenderDescriber } from '../../../attribution/sender.ts'
import { openGeoLookup } from '../../../hits/batches/open-geo-lookup.ts'
import { type Campaign, parseCampaign } from '../../../visitors/campaign.ts'
import { readRecords } from '../../files/read-records.ts'
import { FileProblem, type RecordPlace, type SourceFile } from '../../files/source-file.ts'
import {
  createSubmissionKeys,
  readSubmission,
  type SourceSubmission,
} from '../../submissions/read-submission.ts'
import type { DescribedSubmission, SubmissionRowReading, TaskFunction, UploadedFile } from '../protocol.ts'
import { countReadings, createReport } from './check-files.ts'
import { openUpload } from './open-links.ts'

/** The list is `submissions` for Formspree and Basin, and `data` for Getform. */
const PLACE: RecordPlace = { lists: ['submissions', 'data'], tables: [] }

/** A batch is one transaction, so that redirects and other writers wait only for a few rows. */
const BATCH_ROWS = 25
const BATCH_CHARS = 512 * 1024

export const checkSubmissions: TaskFunction<'checkSubmissions'> = async ({ file, options }, send) => {
  const opened = await openSubmissionFile(file)
  const checked = await countReadings(opened, PLACE, options, createReport(send), readSubmission)
  if (checked.rows === 0) throw new FileProblem('The file has no submissions.')
  return checked
}

export const sendSubmissions: TaskFunction<'submissions'> = async (
  { file, options, skip, geoPath },
  send,
) => {
  const opened = await openSubmissionFile(file)
  const toKey = createSubmissionKeys()
  const describe = createDescriber(geoPath)
  let batch: SubmissionRowReading[] = []
  let chars = 0
  let read = 0
  for await (const records of readRecords(opened, PLACE)) {
    for (const record of records) {
      const reading = readSubmission(record, options)
      // Stored rows are read as well, to count earlier rows with the same content.
      const key = 'value' in reading ? toKey(reading.value) : ''
      if (++read <= skip) continue
      const { row } = record
      if ('value' in reading) batch.push({ row, key, submission: describe(reading.value), problems: [] })
      else batch.push({ row, key, submission: null, problems: reading.problems })
      if ('value' in reading) chars += JSON.stringify(reading.value.fields).length
      if (batch.length < BATCH_ROWS && chars < BATCH_CHARS) continue
      await send({ readings: batch })
      batch = []
      chars = 0
    }
  }
  if (batch.length > 0) await send({ readings: batch })
  return null
}

async function openSubmissionFile({ path, name }: UploadedFile): Promise<SourceFile> {
  const file = await openUpload(path, name)
  if (file.format === 'csv' || file.format === 'json') return file
  throw new FileProblem('Submissions are imported from CSV or JSON. Unpack a zip file, and import its files.')
}

function createDescriber(geoPath: string | undefined) {
  const describeSender = createSenderDescriber({ geo: () => openGeoLookup(geoPath), getSalt: () => '' })
  return ({
    address,
    userAgent,
    pageUrl,
    utm,
    id: _,
    ...submission
  }: SourceSubmission): DescribedSubmission => {
    const sender = describeSender({ at: 0, workspaceId: 0, address, userAgent, referer: pageUrl })
    const { visitor: _visitor, ...described } = sender
    return { ...described, ...pickKnown(parseCampaign(utm)), ...submission }
  }
}

/** The known values of the file's columns, which override those of the page's address. */
const pickKnown = (campaign: Campaign): Partial<Campaign> =>
  Object.fromEntries(Object.entries(campaign).filter(([, value]) => value !== null))
