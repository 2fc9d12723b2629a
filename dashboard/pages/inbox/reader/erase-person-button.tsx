// Opens the dialog that erases everything sent with one e-mail address.

import { lazy, Suspense, useState } from 'react'
import { Button } from '../../../ui/button.tsx'

const ErasePersonDialog = lazy(() => import('../dialogs/erase-person-dialog.tsx'))

export function ErasePersonButton({ email }: { email: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="quiet" size="small" onClick={() => setOpen(true)}>
        Erase all data from this address
      </Button>
      <Suspense>{isOpen && <ErasePersonDialog email={email} onClose={() => setOpen(false)} />}</Suspense>
    </>
  )
}
