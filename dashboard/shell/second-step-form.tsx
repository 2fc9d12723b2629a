// The second step of a sign-in, on the sign-in page and in the dialog over a page whose session has ended.

import { useQuery } from '@tanstack/react-query'
import { pendingSignInQuery, verifySecondFactor } from '../api/second-factor.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/forms/form-error.tsx'
import { QueryState } from '../ui/query-state.tsx'
import { FactorForm } from './factor-form.tsx'

interface Props {
  onDone: () => void | Promise<void>
  onBack: () => void
}

export function SecondStepForm({ onDone, onBack }: Props) {
  const pending = useQuery({ ...pendingSignInQuery, staleTime: 0, gcTime: 0 })
  return (
    <>
      <QueryState query={pending} rows={2} className="h-10" />
      {pending.data === null && <FormError>Sign-in took too long. Start again.</FormError>}
      {pending.data && (
        <FactorForm
          ways={pending.data}
          action="Sign in"
          onProof={async (proof) => {
            await verifySecondFactor(proof)
            await onDone()
          }}
        />
      )}
      <Button variant="quiet" onClick={onBack}>
        Back
      </Button>
    </>
  )
}
