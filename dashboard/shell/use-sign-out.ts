// Signs the user out, and leads to the sign-in page.

import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { signOut } from '../api/session.ts'
import { toastError } from '../ui/overlays/toast.tsx'

export function useSignOut() {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useCallback(async () => {
    try {
      await signOut()
    } catch (error) {
      return toastError(error, 'Couldn’t sign out')
    }
    await navigate({ to: '/sign-in', search: {} })
    client.clear()
  }, [client, navigate])
}
