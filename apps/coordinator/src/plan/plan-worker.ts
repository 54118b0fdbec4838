// Runs in a worker thread of PlanThreads.
import { serveListings } from './serve-listings.ts';

serveListings();
