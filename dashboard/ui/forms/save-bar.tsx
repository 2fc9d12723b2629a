// The bar with Save and Discard below a form. While there are unsaved changes, it stays visible, ⌘S or Ctrl+S saves, and
// leaving the page asks first.

import { useEffect, useRef } from 'react'
import { Button } from '../button.tsx'
import { classNames } from '../class-names.ts'
import { LeaveGuard } from './leave-guard.tsx'

interface Props {
  isChanged: boolean
  busy: boolean
  hasErrors: boolean
  discard: () => void
}

export function SaveBar({ isChanged, busy, hasErrors, discard }: Props) {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isChanged) return
    const save = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 's' || event.altKey) return
      event.preventDefault()
      bar.current?.closest('form')?.requestSubmit()
    }
    addEventListener('keydown', save)
    return () => removeEventListener('keydown', save)
  }, [isChanged])
  return (
    <div
      ref={bar}
      className={classNames(
        'flex flex-wrap items-center gap-2 rounded-2xl border bg-card px-4 py-3 sm:px-5',
        isChanged ? 'sticky bottom-3 z-10 border-strong shadow-lg' : 'border-line',
      )}
    >
      {isChanged && <LeaveGuard discard={discard} />}
      <p role="status" className={`min-w-0 flex-1 text-sm ${hasErrors ? 'text-danger' : 'text-soft'}`}>
        {hasErrors
          ? 'Couldn’t save. Correct the errors above.'
          : isChanged
            ? 'Unsaved changes'
            : 'All changes saved'}
      </p>
      <Button disabled={!isChanged || busy} onClick={discard}>
        Discard
      </Button>
      <Button type="submit" variant="primary" disabled={!isChanged} busy={busy}>
        Save
      </Button>
    </div>
  )
}
