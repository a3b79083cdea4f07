/** The service as the environment sets it. What keeps it from starting is for the operator: its message, and no stack. */
import { createService, type Service, type ServiceOptions } from './service.ts';
import { settings } from './settings.ts';

export async function startService(options: Partial<ServiceOptions> = {}): Promise<Service> {
  try {
    return await createService({ ...settings(), ...options });
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    console.error(message || code);
    process.exit(1);
  }
}
