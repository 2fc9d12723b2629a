// The messages between the server and the reader, its child process: the server gives it one task at a time, the reader
// sends batches, and each batch waits for the server's reply.

import type { LogLevel } from '../../../lib/log.ts'
import type { LogFormat } from '../../../lib/telemetry/log-format.ts'
import type { Sender } from '../../attribution/sender.ts'
import type { RecordBatch } from '../archive/read-archive-records.ts'
import type { ArchiveContents } from '../archive/verify-archive.ts'
import type { TimeOptions } from '../files/read-time.ts'
import type { FieldProblem, FileEncoding, FileFormat } from '../files/source-file.ts'
import type { HistoryMessage, HistoryReply, HistoryTask } from '../history/messages.ts'
import type { DateOrder, ImportSourceName, LinkSourceName } from '../schema.ts'
import type { ReadingOptions, SourceLink } from '../sources/source.ts'
import type { SourceSubmission } from '../submissions/read-submission.ts'

/** An uploaded file on the disk. */
export interface UploadedFile {
  path: string
  /** The name on the person's computer. */
  name: string | null
}

interface SourceTask {
  source: ImportSourceName
  options: ReadingOptions
}

export interface InspectTask {
  file: UploadedFile
  /** For dates, and for the mapping of `csv`. */
  options: ReadingOptions
}

/** A description of a file, for the person who imports it. */
export interface Inspection {
  /** The tool of the file; `csv` if its columns are unknown. */
  source: LinkSourceName
  /** The tool's name, as its makers write it. */
  title: string
  /** The content: links, or clicks of links. */
  holds: 'links' | 'clicks'
  format: FileFormat
  encoding: FileEncoding
  /** The number of inspected rows. */
  rows: number
  columns: { name: string; samples: string[] }[]
  /** Our field → the suggested column. */
  mapping: Record<string, string>
  hosts: { host: string; links: number }[]
  /** True if the order of day, month and year is unknown. */
  ambiguousDates: boolean
  /** Dates of the file, as written, for the question about their order. */
  dateSamples: string[]
}

export interface CheckTask extends SourceTask {
  file: UploadedFile
  clicks: UploadedFile | null
}

/** Facts about a file that was read to its end. */
interface CheckedFile {
  /** The number of links or clicks, including wrong ones. */
  rows: number
  /** Links or clicks in these rows: a link with aliases counts as several. */
  items: number
  /** The order of its dates: the given one, or the only possible one. */
  dateOrder: DateOrder | null
}

export interface ImportCheck extends CheckedFile {
  /** Null without a click history. */
  clicks: CheckedFile | null
}

export interface LinksTask extends SourceTask {
  file: UploadedFile
  /** The number of stored links: they are read and not sent. */
  skip: number
}

/** One row of the file. */
export interface LinkRowReading {
  row: number
  /** The deduplication keys of the link: see `sources/deduplication-keys.ts`. Empty if there are `problems`. */
  keys: string[]
  /** A key for each alias of the link. */
  aliasKeys: string[]
  link: SourceLink | null
  problems: FieldProblem[]
}

export interface LinkBatch {
  readings: LinkRowReading[]
}

export interface ClicksTask extends SourceTask {
  /** The second file, or the first one if it has both, such as an SQL dump. */
  file: UploadedFile
  history: HistoryTask
}

export interface ArchiveTask {
  /** The export of a workspace. */
  file: UploadedFile
  /** The number of stored lines: they are read and not sent. */
  skip: number
}

export interface CheckSubmissionsTask {
  file: UploadedFile
  options: TimeOptions
}

export interface SubmissionsTask extends CheckSubmissionsTask {
  /** The number of stored rows: they are read and not sent. */
  skip: number
  /** The path of the country database; when absent, the bundled one. */
  geoPath: string | undefined
}

/** A submission as stored: without the IP address and user agent of its sender. */
export type DescribedSubmission = Omit<Sender, 'visitor'> &
  Pick<SourceSubmission, 'at' | 'fields' | 'email' | 'isSpam' | 'referrer'>

/** One row of the file. */
export interface SubmissionRowReading {
  row: number
  /** The deduplication key of the submission: see `createSubmissionKeys`. '' if there are `problems`. */
  key: string
  submission: DescribedSubmission | null
  problems: FieldProblem[]
}

/** The tasks of the reader, each with its input, its batches, the reply to a batch, and its result. */
export interface ReaderTasks {
  inspect: { input: InspectTask; batch: never; reply: null; result: Inspection }
  check: { input: CheckTask; batch: null; reply: null; result: ImportCheck }
  links: { input: LinksTask; batch: LinkBatch; reply: null; result: null }
  checkArchive: { input: { file: UploadedFile }; batch: null; reply: null; result: ArchiveContents }
  archive: { input: ArchiveTask; batch: RecordBatch; reply: null; result: null }
  checkSubmissions: { input: CheckSubmissionsTask; batch: null; reply: null; result: CheckedFile }
  submissions: {
    input: SubmissionsTask
    batch: { readings: SubmissionRowReading[] }
    reply: null
    result: null
  }
  clicks: { input: ClicksTask; batch: HistoryMessage; reply: HistoryReply; result: null }
}
export type ReaderTaskName = keyof ReaderTasks

/** Sends a batch to the server, and waits for the server's reply. */
export type SendBatch<Name extends ReaderTaskName> = (
  batch: ReaderTasks[Name]['batch'],
) => Promise<ReaderTasks[Name]['reply']>

/** The work of one task in the reader. @throws FileProblem, whose message people see */
export type TaskFunction<Name extends ReaderTaskName> = (
  input: ReaderTasks[Name]['input'],
  send: SendBatch<Name>,
) => Promise<ReaderTasks[Name]['result']>

export interface ReaderSettings {
  logLevel: LogLevel
  logFormat: LogFormat
}

export type MessageToReader =
  /** The first message. Other users can read arguments and environment, so settings are sent here. */
  | { type: 'settings'; settings: ReaderSettings }
  | { type: 'task'; name: ReaderTaskName; input: unknown }
  | { type: 'reply'; value: unknown }

export type MessageFromReader =
  /** Sent each second while its event loop turns. */
  | { type: 'alive' }
  | { type: 'batch'; batch: unknown }
  | { type: 'result'; result: unknown }
  /** A problem of the file. */
  | { type: 'problem'; message: string }
  /** A fault of the reader. */
  | { type: 'error'; message: string }
