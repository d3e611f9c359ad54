"""What the tests of the web application in a browser share."""
