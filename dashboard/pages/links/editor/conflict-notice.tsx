// Edit conflict: another person has saved the link. Shows their changes and asks which values to keep; nothing is
// overwritten before that.

import { useEffect, useRef } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { toScreenName } from '../../../api/field-names.ts'
import { Button } from '../../../ui/button.tsx'
import { type LinkDraft, toDraft, toRequestBody } from './link-draft.ts'
import { listChanges } from './list-changes.ts'

interface Props {
  before: LinkResource
  theirs: LinkResource
  mine: LinkDraft
  /** The person has tried to save: the notice gets the focus. */
  isRefused: boolean
  isSaving: boolean
  takeTheirs: () => void
  keepMine: () => void
}

export function ConflictNotice({ before, theirs, mine, isRefused, isSaving, takeTheirs, keepMine }: Props) {
  const notice = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isRefused) notice.current?.focus()
  }, [isRefused])
  const changes = listChanges(before, theirs)
  const myFields = new Set(Object.keys(toRequestBody(toDraft(before), mine)).map(toScreenName))
  return (
    <div
      ref={notice}
      role="alert"
      tabIndex={-1}
      className="mb-4 grid gap-3 rounded-xl border border-warn bg-sunken p-4 text-sm outline-offset-2"
    >
      <p className="font-medium">Someone else has changed this link since you opened it.</p>
      {changes.length === 0 && <p>They changed a setting that isn’t shown, such as the password.</p>}
      <ul className="grid gap-2">
        {changes.map(({ name, before: was, after }) => (
          <li key={name} className="min-w-0">
            <span className="font-medium">{name}</span>
            {myFields.has(name) && <span className="text-warn"> · you changed it too</span>}
            <p className="break-words text-soft">
              <del>{was}</del> → <ins className="text-ink no-underline">{after}</ins>
            </p>
          </li>
        ))}
      </ul>
      <p className="text-soft">
        “Keep mine” saves your changes; everything else stays as they saved it. “Take theirs” drops your
        changes.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="small" busy={isSaving} onClick={keepMine}>
          Keep mine
        </Button>
        <Button size="small" onClick={takeTheirs}>
          Take theirs
        </Button>
      </div>
    </div>
  )
}
