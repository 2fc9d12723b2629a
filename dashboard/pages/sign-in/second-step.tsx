// The second step of a sign-in: a second factor after the password, or after the identity provider.

import { useQuery } from '@tanstack/react-query'
import { pendingSignInQuery, verifySecondFactor } from '../../api/second-factor.ts'
import { FactorForm } from '../../shell/factor-form.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { CenteredPage } from './centered-page.tsx'

export function SecondStep({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) {
  const pending = useQuery({ ...pendingSignInQuery, staleTime: 0, gcTime: 0 })
  return (
    <CenteredPage title="Two-factor sign-in" description="Show that it is you.">
      {pending.isPending && <SkeletonRows rows={2} className="h-10" />}
      {pending.isError && <ErrorState error={pending.error} retry={pending.refetch} />}
      {pending.data === null && <FormError>The sign-in took too long. Begin again.</FormError>}
      {pending.data && (
        <FactorForm
          ways={pending.data}
          action="Sign in"
          onProof={async (proof) => {
            await verifySecondFactor(proof)
            onDone()
          }}
        />
      )}
      <Button variant="quiet" onClick={onCancel}>
        Back
      </Button>
    </CenteredPage>
  )
}
