// The bar with Save and Discard below a form. It stays visible while there are unsaved changes.

import { Button } from '../button.tsx'
import { classNames } from '../class-names.ts'

interface Props {
  isChanged: boolean
  busy: boolean
  hasErrors: boolean
  discard: () => void
}

export function SaveBar({ isChanged, busy, hasErrors, discard }: Props) {
  return (
    <div
      className={classNames(
        'flex flex-wrap items-center gap-2 rounded-2xl border border-line bg-card px-4 py-3 sm:px-5',
        isChanged && 'sticky bottom-3 z-10 shadow-lg',
      )}
    >
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
