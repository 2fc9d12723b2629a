// Receives the files of one request: writes their bytes into drafts, and hashes, measures and sniffs them meanwhile.
// Reads refused files to the end without keeping them, so that the answer can name every mistake.

import { createHash, type Hash } from 'node:crypto'
import type { FileDraft, FileStore } from '../../../storage/files/file-store.ts'
import type { Mistake } from '../rules/mistake.ts'
import { isAccepted } from './accepted-type.ts'
import { toHarmlessName } from './file-name.ts'
import type { UploadSettings } from './schema.ts'
import { createTypeSniffer, type TypeSniffer } from './sniff-type.ts'
import type { SubmittedFile } from './submitted-file.ts'

export interface FileReceiverNeeds {
  store: Pick<FileStore, 'create'>
  /** Keys of files that may still get a row: no sweep takes them. */
  unfinished: Set<string>
}

export interface FileReceiver {
  /** Whole and accepted, in the order of sending. */
  files: SubmittedFile[]
  /** The first mistake of each field. */
  mistakes: Map<string, Mistake>
  /** Begins a file. @returns its harmless name */
  begin(field: string, givenName: string): Promise<string>
  write(chunk: Uint8Array): Promise<void>
  /** @returns the file; undefined where it is refused */
  finish(): Promise<SubmittedFile | undefined>
  /** Resolves when every file survives a power cut. */
  commit(): Promise<void>
  /** The files are a submission's now, or may be. */
  keep(): void
  /** Ends the request: removes files that are not kept. Never throws. */
  close(): Promise<void>
}

interface OpenFile {
  field: string
  name: string
  bytes: number
  hash: Hash
  sniffer: TypeSniffer
  /** Null where the file is refused already. */
  draft: FileDraft | null
}

type State = ReturnType<typeof createState>

const createState = (needs: FileReceiverNeeds, settings: UploadSettings) => ({
  needs,
  settings,
  receiver: { files: [], mistakes: new Map() } as Pick<FileReceiver, 'files' | 'mistakes'>,
  drafts: new Set<FileDraft>(),
  /** Accepted or not. */
  count: 0,
  current: undefined as OpenFile | undefined,
  kept: false,
})

export function createFileReceiver(needs: FileReceiverNeeds, settings: UploadSettings): FileReceiver {
  const state = createState(needs, settings)
  return {
    ...state.receiver,
    begin: (field, givenName) => begin(state, field, toHarmlessName(givenName)),
    write: (chunk) => write(state, chunk),
    finish: () => finish(state),
    async commit() {
      const commits = await Promise.allSettled([...state.drafts].map((draft) => draft.commit()))
      const failed = commits.find((commit) => commit.status === 'rejected')
      if (failed) throw failed.reason
    },
    keep() {
      state.kept = true
    },
    close: () => close(state),
  }
}

async function begin(state: State, field: string, name: string): Promise<string> {
  const { maxFiles } = state.settings
  const isOneTooMany = ++state.count > maxFiles
  if (isOneTooMany) refuse(state, field, { rule: 'tooManyFiles', limit: maxFiles })
  state.current = {
    field,
    name,
    bytes: 0,
    hash: createHash('sha256'),
    sniffer: createTypeSniffer(),
    draft: isOneTooMany ? null : await createDraft(state),
  }
  return name
}

async function createDraft({ needs, drafts }: State): Promise<FileDraft> {
  const draft = await needs.store.create()
  needs.unfinished.add(draft.key)
  drafts.add(draft)
  return draft
}

async function write(state: State, chunk: Uint8Array): Promise<void> {
  const { current, settings } = state
  if (!current?.draft) return
  current.bytes += chunk.byteLength
  if (current.bytes > settings.maxBytes) {
    await drop(state, current, { rule: 'fileTooLarge', limit: settings.maxBytes })
    return
  }
  current.hash.update(chunk)
  current.sniffer.add(chunk)
  await current.draft.write(chunk)
}

async function finish(state: State): Promise<SubmittedFile | undefined> {
  const { current, settings, receiver } = state
  state.current = undefined
  if (!current?.draft) return undefined
  const { field, name, bytes, hash, sniffer, draft } = current
  const sniffed = await sniffer.finish()
  if (!isAccepted(settings.accept, { ...sniffed, name })) {
    await drop(state, current, { rule: 'fileType', accept: settings.accept })
    return undefined
  }
  const file = { field, name, type: sniffed.type, bytes, sha256: hash.digest('hex'), draft }
  receiver.files.push(file)
  return file
}

/** Refuses the file, and gives its bytes back to the disk at once. */
async function drop(state: State, file: OpenFile, mistake: Mistake): Promise<void> {
  refuse(state, file.field, mistake)
  if (file.draft) await discard(state, file.draft)
  file.draft = null
}

function refuse({ receiver: { mistakes } }: State, field: string, mistake: Mistake): void {
  if (!mistakes.has(field)) mistakes.set(field, mistake)
}

async function discard({ needs, drafts }: State, draft: FileDraft): Promise<void> {
  await draft.discard()
  drafts.delete(draft)
  needs.unfinished.delete(draft.key)
}

async function close(state: State): Promise<void> {
  for (const draft of state.drafts) {
    if (state.kept) state.needs.unfinished.delete(draft.key)
    else await discard(state, draft)
  }
  state.drafts.clear()
}
