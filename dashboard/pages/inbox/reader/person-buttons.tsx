// Opens the dialogs that export and erase everything sent with one email address.

import { useState } from 'react'
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'

const ErasePersonDialog = lazyPart(() => import('../dialogs/erase-person-dialog.tsx'), 'default')
const ExportPersonDialog = lazyPart(() => import('../dialogs/export-person-dialog.tsx'), 'default')

/** @param email the person's address; without one, the dialogs ask for it */
export function PersonButtons({ email }: { email?: string }) {
  const [dialog, open] = useState<'export' | 'erase'>()
  const canEdit = useCanEdit()
  const close = () => open(undefined)
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="small" onClick={() => open('export')}>
        {email ? 'Export this person' : 'Export personal data'}
      </Button>
      {canEdit && (
        <Button size="small" onClick={() => open('erase')}>
          {email ? 'Erase this person' : 'Erase personal data'}
        </Button>
      )}
      {dialog === 'export' && <ExportPersonDialog email={email} onClose={close} />}
      {dialog === 'erase' && <ErasePersonDialog email={email} onClose={close} />}
    </div>
  )
}
