import type { RouteGroup } from '../api.ts';
import { applicationRoutes } from './application.ts';

/** Every resource's routes, in the order of the OpenAPI file. */
export const routes: readonly RouteGroup[] = [applicationRoutes];
