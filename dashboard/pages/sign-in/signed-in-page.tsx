// The page in the second tab after a sign-in at an identity provider. The first tab waits for it, and goes on.

import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { announceSignIn } from '../../api/signed-in-tab.ts'
import { CenteredPage } from './centered-page.tsx'

export function SignedInPage() {
  useEffect(() => {
    announceSignIn()
    // Browsers close only tabs that a page has opened.
    window.close()
  }, [])
  return (
    <CenteredPage
      title="You’re signed in"
      description="Go back to the tab you were working in. You can close this one."
      footer={
        <Link to="/" className="text-link">
          Open the dashboard here
        </Link>
      }
    />
  )
}
